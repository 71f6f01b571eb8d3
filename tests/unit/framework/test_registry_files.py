"""Files of registered assets are those of the project: a linked folder that leads out of it is not followed."""

from __future__ import annotations

import hashlib

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.framework.registry_files import AssetFiles, digest_in
from governance_pipeline.storage.content import ContentStore

SECRET = b"not of this project"


@pytest.fixture
def outputs(folder):
    """Make the folder of the outputs."""
    made = folder.root / "06_design"
    made.mkdir(exist_ok=True)
    return made


@pytest.fixture
def linked(outputs, tmp_path):
    """Make a folder of the project that is a link to one beside it, with a file in it; gives the file."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_bytes(SECRET)
    (outputs / "linked").symlink_to(outside)
    return outside / "secret.csv"


def test_a_file_behind_a_link_that_leads_out_is_not_hashed(folder, outputs, linked):
    inside = outputs / "prices.csv"
    inside.write_bytes(SECRET)
    assert digest_in(folder, "06_design/prices.csv") == hashlib.sha256(SECRET).hexdigest()
    assert digest_in(folder, "06_design/linked/secret.csv") is None


@pytest.mark.parametrize(
    "path", ["06_design/circle/a.csv", "06_design/" + "x" * 300 + "/a.csv", "06_design/a\0b/c.csv"]
)
def test_a_place_nobody_can_look_at_has_no_digest(folder, outputs, path):
    (outputs / "circle").symlink_to("circle")
    assert digest_in(folder, path) is None


def test_nothing_is_written_behind_a_link_that_leads_out(folder, linked, tmp_path):
    source = tmp_path / "new.csv"
    source.write_bytes(b"new")
    store = ContentStore(tmp_path / "lake")
    kept = store.keep(source)
    with pytest.raises(StorageError, match="leads out of the project"):
        AssetFiles(folder, store).put(kept.sha256, "06_design/linked/secret.csv")
    assert linked.read_bytes() == SECRET
