"""A round's verdict inputs as one archive, from which its findings are found again on a machine without the store.

What belongs here: writing and reading the archive. What does not: running detectors (`again`). The same inputs give the
same bytes: members are sorted, stored without another compression, and carry no time. Reading believes nothing: each
member is bounded and held to the digest the manifest gives, each table to its contract. A bundle holds no dismissal:
whoever has no ledger and no trust root cannot judge one. Source: spec/verdict.md §4.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import PolicyError, UnreadableError, UsageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.parquet import from_bytes, to_bytes
from governance_pipeline.strict.archive import STORED, open_archive
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.baseline import ancestors
from governance_pipeline.verdict.calibration import record_of
from governance_pipeline.verdict.calibration_evaluation import read_plan
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.verdict.policy_document import read_policy
from governance_pipeline.verdict.round_view import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.strict.archive import Archive
    from governance_pipeline.verdict.calibration import Records
    from governance_pipeline.verdict.policy_document import Policy

    Tables = Mapping[str, pd.DataFrame]

SCHEMA: Final = "govern/verdict-bundle/v1"
MANIFEST: Final = "manifest.json"
POLICY: Final = "policy.json"
CALIBRATIONS: Final = "calibrations.json"
MOST_BYTES: Final = 2**30
"""Bytes of one table, unpacked, beyond which a bundle is not read."""

_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3


class Bundle(NamedTuple):
    """What a bundle holds: the round it is of, the tables of it and its ancestors, policy and calibrations."""

    round_id: str
    tables: Tables
    policy: Policy
    calibrations: Records


def bundle_bytes(
    round_id: str, tables: Tables, policy: Mapping[str, Any], version: str, plans: Sequence[Mapping[str, Any]] = ()
) -> bytes:
    """Write the bundle of a round.

    Args:
        round_id: the round.
        tables: every table of `round_view.INPUTS`; rows of rounds it does not continue are left out.
        policy: the `govern/policy/v1` document in force.
        version: of this program.
        plans: the `govern/calibration/v1` of each calibration in force.
    """
    known = tables["core_rounds"]
    parents = dict(zip(known["round_id"], known["parent_round_id"], strict=True))
    rounds = sorted([round_id, *ancestors([round_id], lambda one: _parent(parents, one))])
    members = {
        f"tables/{table}.parquet": to_bytes(
            table, tables[table][tables[table]["round_id"].isin(rounds)].reset_index(drop=True), {}
        )
        for table in INPUTS
    }
    members[POLICY] = canonical_json(policy)
    members[CALIBRATIONS] = canonical_json(sorted(plans, key=lambda plan: str(plan["signal"])))
    manifest = {
        "schema": SCHEMA,
        "round_id": round_id,
        "rounds": rounds,
        "written_by": version,
        "members": {name: sha256_hex(data) for name, data in sorted(members.items())},
    }
    members[MANIFEST] = canonical_json(manifest)
    return _packed(members)


def read_bundle(path: Path) -> Bundle:
    """Read a bundle from hostile hands.

    Raises:
        UnreadableError: it is no archive, too large, not complete, or not what its manifest says.
        StorageError: a table was written by a program with other contracts.
        ContractBreach: a table breaks its contract.
    """
    with open_archive(path) as archive:
        names = {member.name: member for member in archive.members}
        if MANIFEST not in names:
            raise _refused(path, f"it has no {MANIFEST}")
        manifest = archive.read_json(names[MANIFEST])
        fault = document_fault("verdict-bundle-v1.json", manifest)
        if fault is not None:
            raise _refused(path, f"{MANIFEST}: {fault}")
        expected = {POLICY, CALIBRATIONS, *(f"tables/{table}.parquet" for table in INPUTS)}
        if set(manifest["members"]) != expected or set(names) != {MANIFEST, *expected}:
            strange = sorted(set(names) ^ {MANIFEST, *expected} or set(manifest["members"]) ^ expected)
            raise _refused(path, f"members are missing or strange: {excerpt(', '.join(strange), 200)}")
        data = {name: _member(path, archive, names[name], digest) for name, digest in manifest["members"].items()}
    return _bundle(path, manifest, data)


def _bundle(path: Path, manifest: Mapping[str, Any], data: Mapping[str, bytes]) -> Bundle:
    tables: dict[str, pd.DataFrame] = {}
    for table in INPUTS:
        name = f"tables/{table}.parquet"
        _refuse_large(path, name, data[name])
        frame = validate(table, from_bytes(table, data[name], path), large_rows=SETTINGS.large_table_rows)
        if not frame["round_id"].isin(manifest["rounds"]).all():
            raise _refused(path, f"{name} has rows of rounds the manifest does not name")
        tables[table] = frame
    if sorted(tables["core_rounds"]["round_id"]) != sorted(manifest["rounds"]):
        raise _refused(path, "core_rounds does not hold the rounds the manifest names")
    if manifest["round_id"] not in manifest["rounds"]:
        raise _refused(path, "the round it is of is none of its rounds")
    try:
        policy = read_policy(json.loads(data[POLICY]))
    except (PolicyError, ValueError) as error:
        raise _refused(path, f"{POLICY}: {error}") from None
    return Bundle(manifest["round_id"], tables, policy, _calibrations(path, data[CALIBRATIONS]))


def _calibrations(path: Path, data: bytes) -> Records:
    try:
        plans = [read_plan(canonical_json(plan)) for plan in json.loads(data)]
    except (UsageError, UnreadableError, TypeError, ValueError) as error:
        raise _refused(path, f"{CALIBRATIONS}: {error}") from None
    return {plan["signal"]: record_of(plan) for plan in plans}


def _member(path: Path, archive: Archive, member: Any, digest: str) -> bytes:
    if member.method != STORED:
        raise _refused(path, f"{excerpt(member.name, 80)} is packed, and a bundle stores its members as they are")
    data = archive.read(member)
    if sha256_hex(data) != digest:
        raise _refused(path, f"{excerpt(member.name, 80)} is not what the manifest says: it was changed after writing")
    return data


def _refuse_large(path: Path, name: str, data: bytes) -> None:
    """Look at the footer first: a column of one repeated value takes no space in the file, and all of it in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = pq.read_metadata(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise _refused(path, f"{name} is no Parquet file: {excerpt(str(error), 200)}") from None
    size = max(
        sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)),
        footer.num_rows * footer.num_columns,
    )
    if size > MOST_BYTES:
        raise _refused(path, f"{name} would take {size} bytes, at most {MOST_BYTES} are read")


def _packed(members: Mapping[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(members.items()):
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.create_system, info.external_attr = _UNIX, _MODE
            archive.writestr(info, data)
    return sink.getvalue()


def _parent(parents: Mapping[str, Any], round_id: str) -> str | None:
    parent = parents.get(round_id)
    return parent if isinstance(parent, str) and parent in parents else None


def _refused(path: Path, why: str) -> UnreadableError:
    return UnreadableError(f"bundle {excerpt(str(path), 200)} is refused: {why}; write it again with --bundle")
