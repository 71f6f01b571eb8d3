"""setup_agent_project.bat, read statement by statement: the same plan as the shell script and `govern init`.

It cannot run here: there is no Windows. So every line must be one of the statements below, whose meaning on Windows is
documented, and what they make together must be the plan, byte for byte.
"""

from __future__ import annotations

import base64
import re

import pytest

from governance_pipeline.framework.scaffold.batch_script import batch_script
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.shell_script import shell_script
from governance_pipeline.framework.scaffold.signatures import Variant

STATEMENTS = {
    "want_folder": r'call :want_folder "(?P<path>[^"%]+)"',
    "want_file": r'call :want_file "(?P<path>[^"%]+)"',
    "stop": r"if defined REFUSED exit /b 2",
    "root": r'if not exist "%PROJECT_PATH%\\" mkdir "%PROJECT_PATH%" \|\| goto failed',
    "folder": r'call :folder "(?P<path>[^"%]+)" \|\| goto failed',
    "skip": r'if exist "%PROJECT_PATH%\\(?P<path>[^"%]+)" goto kept_(?P<n>\d+)',
    "begin": r'> "%ENCODED%" echo -----BEGIN CERTIFICATE-----\|\| goto failed',
    "data": r'>> "%ENCODED%" echo (?P<base64>[A-Za-z0-9+/]+={0,2})',
    "end": r'>> "%ENCODED%" echo -----END CERTIFICATE-----',
    "named": r'call :named "(?P<path>[^"%]+)" \|\| goto failed',
    "done": r"goto done_(?P<n>\d+)",
    "kept_label": r":kept_(?P<n>\d+)",
    "kept": r"echo kept    (?P<path>\S+)",
    "done_label": r":done_(?P<n>\d+)",
    "remark": r"rem .*|",
}


def _statements(script: bytes) -> list[tuple[str, dict[str, str]]]:
    """Cut the body of a script, between its head and `exit /b 0`, into known statements."""
    lines = script.decode("ascii").split("\r\n")
    body = lines[lines.index('set "REFUSED="') + 1 : lines.index("exit /b 0")]
    found = []
    for line in body:
        matches = [(name, m.groupdict()) for name, p in STATEMENTS.items() if (m := re.fullmatch(p, line))]
        assert len(matches) == 1, f"no statement of this script: {line!r}"
        found += [match for match in matches if match[0] != "remark"]
    return found


def _made(statements) -> tuple[list[str], dict[str, bytes]]:
    """Do what the statements do on an empty folder: folders in order, files with their bytes."""
    folders: list[str] = []
    files: dict[str, bytes] = {}
    encoded = ""
    steps = iter(statements)
    for name, found in steps:
        if name == "folder":
            folders.append(found["path"].replace("\\", "/"))
        elif name == "begin":
            encoded = ""
        elif name == "data":
            assert len(found["base64"]) <= 64
            encoded += found["base64"]
        elif name == "named":
            files[found["path"].replace("\\", "/")] = base64.b64decode(encoded, validate=True)
    return folders, files


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("variant", [Variant.LIBRARY, Variant.SKELETON])
def test_its_statements_make_the_plan_byte_for_byte(language, variant):
    plan = plan_of(language, variant)
    folders, files = _made(_statements(batch_script(plan)))
    assert folders == [folder.path for folder in plan.folders]
    assert files == {file.path: file.data for file in plan.files}
    assert list(files) == [file.path for file in plan.files]


def test_it_looks_at_the_whole_tree_before_it_makes_anything(plan):
    names = [name for name, _ in _statements(batch_script(plan))]
    looks = len(plan.folders) + len(plan.files)
    assert names[: looks + 2] == ["want_folder"] * len(plan.folders) + ["want_file"] * len(plan.files) + [
        "stop",
        "root",
    ]
    looked = [found["path"] for name, found in _statements(batch_script(plan)) if name.startswith("want_")]
    assert looked == [e.path.replace("/", "\\") for e in (*plan.folders, *plan.files)]


def test_each_file_is_skipped_when_it_is_there_and_its_labels_are_its_own(plan):
    statements = _statements(batch_script(plan))
    starts = [at for at, (name, _) in enumerate(statements) if name == "skip"]
    assert len(starts) == len(plan.files)
    for number, (start, end, file) in enumerate(
        zip(starts, [*starts[1:], len(statements)], plan.files, strict=True), 1
    ):
        block = statements[start:end]
        names = [name for name, _ in block]
        assert names[:2] == ["skip", "begin"]
        assert set(names[2:-6]) == {"data"}
        assert names[-6:] == ["end", "named", "done", "kept_label", "kept", "done_label"]
        assert {found["n"] for _, found in block if "n" in found} == {str(number)}
        assert {found["path"] for _, found in block if "path" in found} == {file.path.replace("/", "\\")}


def test_it_makes_what_the_shell_script_makes_in_the_same_order(plan):
    text = shell_script(plan).decode()
    shell_folders = re.findall(r"^folder '([^']+)'$", text, re.MULTILINE)
    shell_files = re.findall(r"^if wanted '([^']+)'; then$", text, re.MULTILINE)
    folders, files = _made(_statements(batch_script(plan)))
    assert (folders, list(files)) == (shell_folders, shell_files)


def test_a_line_that_is_no_known_statement_is_found():
    script = batch_script(plan_of("en")).replace(b"\r\nif defined REFUSED exit /b 2\r\n", b"\r\ndel /q *\r\n")
    with pytest.raises(AssertionError, match=re.escape("'del /q *'")):
        _statements(script)


def test_a_changed_byte_of_a_file_is_found():
    plan = plan_of("en")
    script = batch_script(plan)
    first = re.search(rb'>> "%ENCODED%" echo (\S)', script)
    flipped = script[: first.start(1)] + (b"A" if first[1] != b"A" else b"B") + script[first.end(1) :]
    assert _made(_statements(flipped))[1] != {file.path: file.data for file in plan.files}


def test_it_is_plain_ascii_with_dos_line_ends_and_every_label_it_goes_to_is_there_once(plan):
    script = batch_script(plan)
    assert script.isascii()
    assert script.count(b"\n") == script.count(b"\r\n")
    text = script.decode()
    labels = re.findall(r"^:(\w+)\r$", text, re.MULTILINE)
    assert len(labels) == len(set(labels))
    gone_to = {one or other for one, other in re.findall(r"goto (\w+)|call :(\w+)", text)}
    assert gone_to == set(labels)
    assert max(map(len, text.splitlines())) < 8191  # the longest command line Windows takes


def test_own_wording_is_in_it_with_any_bytes(wording):
    hostile = "100% ^&|<>!\"'é\r\nno end"
    plan = plan_of("en", template=wording(**{"01_architecture/data_flow.md": hostile}))
    assert _made(_statements(batch_script(plan)))[1]["01_architecture/data_flow.md"] == hostile.encode()
