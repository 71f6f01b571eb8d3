"""Rows 41 to 50 of the attack table (research/security.md c), through `read_round`: each with its reason code."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
import zlib
from pathlib import Path

import pytest

import governance_pipeline
from governance_pipeline.ingest.importing import verify_round
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore

STEP = {
    "timestamp": "2026-01-05T10:00:00Z", "agent_id": "a", "run_id": "r", "tool_called": "bash", "output_result": "x",
    "token_cost": 1, "self_reported_status": "ok",
}  # fmt: skip
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"eval_id": "e", "task": "t", "model": "m", "created": "2026-01-05T10:00:00Z"},
}


def reasons(tables):
    """Give {path: reason of the file}, or {path: {line or pointer: reason of the record}} where it was read."""
    found = {row["path"]: row["reason_code"] for row in tables.rows("raw_log_files")}
    for row in tables.rows("raw_quarantine"):
        if found[row["path"]] is None:
            found[row["path"]] = {}
        if isinstance(found[row["path"]], dict):
            found[row["path"]][row["line"] or row["pointer"]] = row["reason_code"]
    return found


def declared(value):
    return b'{"subject":"r","field":"n","value":' + value + b"}\n"


def zipped(*members, **options):
    """Write an archive with a header; a member is (name or ZipInfo, bytes)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, **options) as out:
        out.writestr("header.json", json.dumps(HEADER))
        for name, data in members:
            out.writestr(name, data)
    return stream.getvalue()


NAMES = ["logs/a.", "logs/A.jsonl", "logs/a.jsonl", "logs/\u202egpj.jsonl", "logs/\x1b[2J", "logs/a\nb", "logs/ ",
         "logs/-rf", "logs/%2e%2e%2f", "logs/" + "n" * 250, "logs/" + "d" * 200 + "/" + "n" * 200]  # fmt: skip


def test_row_41_a_name_is_a_literal_name_however_it_looks(read, tmp_path):
    before = {path for path in tmp_path.rglob("*") if "rounds" not in path.parts}
    tables = read({name: [STEP] for name in NAMES})
    assert set(tables.frame("raw_log_files")["path"]) == set(NAMES)
    assert tables.frame("raw_log_files")["accepted"].sum() == len(NAMES)
    made = {path for path in tmp_path.rglob("*") if "rounds" not in path.parts} - before
    assert {path.relative_to(tmp_path).parts[0] for path in made} == {"lake"}


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../../../x", "a\0b"])
def test_row_41_a_path_a_log_names_is_never_opened(read, path):
    tables = read({"logs/a.jsonl": [STEP | {"output_path": path}], "changes.jsonl": [{"step": 1, "files": [
        {"path": path, "added": 1, "deleted": 0}]}]})  # fmt: skip
    assert tables.frame("core_steps")["output_file_sha256"].isna().all()
    assert set(tables.frame("raw_log_files")["path"]) == {"logs/a.jsonl", "changes.jsonl"}


def test_row_42_what_is_no_file_of_its_own_is_refused_and_the_rest_goes_on(read, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps(STEP))
    folder = tmp_path / "rounds" / "r-1"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "symbolic").symlink_to(outside)
    (folder / "logs" / "folder").symlink_to(tmp_path)
    (folder / "logs" / "hard").hardlink_to(outside)
    os.mkfifo(folder / "logs" / "fifo")
    tables = read({"logs/a.jsonl": [STEP]})
    assert reasons(tables) == {
        "logs/a.jsonl": None, "logs/fifo": "fifo", "logs/folder": "symlink", "logs/hard": "hard_link",
        "logs/symbolic": "symlink",
    }  # fmt: skip
    assert tables.frame("raw_log_files")["lines_in"].tolist() == [1] * 5
    assert set(verify_round(folder, tables.frame("raw_log_files"))["state"]) == {"same"}
    outside.unlink()
    assert verify_round(folder, tables.frame("raw_log_files")).set_index("path")["state"]["logs/hard"] == "changed"


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_row_42_a_contract_that_is_a_link_is_invalid_and_its_text_stays_unread(read, tmp_path, link):
    (tmp_path / "secret").write_text('schema = "govern/round/v1"\n[round]\nobjective = "secret"\n')
    (tmp_path / "rounds" / "r-1").mkdir(parents=True)
    getattr(tmp_path / "rounds" / "r-1" / "round.toml", link)(tmp_path / "secret")
    (row,) = read({"logs/a.jsonl": [STEP]}).rows("core_rounds")
    assert (row["contract_state"], row["objective"]) == ("invalid", None)
    assert {"symlink_to": "symlink", "hardlink_to": "hard_link"}[link] in row["contract_fault"]


def test_row_43_a_line_beyond_the_bound_is_quarantined_and_the_next_one_read(read):
    line = json.dumps(STEP).encode()
    tables = read({"logs/a.jsonl": line + b"\n" + b"x" * (16 * 2**20 + 1) + b"\n" + line})
    assert reasons(tables) == {"logs/a.jsonl": {2: "line_too_long"}}
    assert tables.frame("raw_log_files")["accepted"].tolist() == [2]


def test_row_43_a_file_that_grows_while_it_is_read_ends_where_it_ended(tmp_path, monkeypatch):
    folder = tmp_path / "r-1"
    folder.mkdir()
    path = folder / "a.jsonl"
    path.write_text(json.dumps(STEP) + "\n")
    keep = ContentStore.keep

    def growing(store, source):
        with path.open("a") as stream:
            stream.write("{}\n" * 1000)
        return keep(store, source)

    kept = ContentStore(tmp_path / "lake")
    monkeypatch.setattr(ContentStore, "keep", growing)
    (row,) = read_round(folder, "r-1", kept).rows("raw_log_files")
    assert row["lines_in"] == 1001
    assert row["bytes"] == len(json.dumps(STEP)) + 1 + 3000


ROW_44 = [
    (b"[" * 100_000, "too_deep"), (b'{"a":' * 100_000, "too_deep"), (b"[" * 65 + b"]" * 65, "too_deep"),
    (b"{" + b",".join(b'"%d":1' % n for n in range(1_000_000)) + b"}", "too_many_keys"),
    (b"[" + b"[]," * 2_000_000 + b"[]]", "too_many_values"),
]  # fmt: skip
ROW_45 = [
    (b'{"a":1,"a":2}', "duplicate_member"), (b'{"a":{"b":1,"\\u0062":2}}', "duplicate_member"), (b"[NaN]", "not_finite"),
    (b"[-Infinity]", "not_finite"),
]  # fmt: skip
ROW_46 = [
    (b'{"a":"\xff"}', "not_utf8"), (b"\xef\xbb\xbf{}", "byte_order_mark"), (b'{"a":"\\ud800"}', "lone_surrogate"),
    (b'{"a":"\x00"}', "nul_byte"), (b'{"a":"\xed\xa0\x80"}', "not_utf8"), (b'{"a":"\n', "malformed_json"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code"), ROW_44 + ROW_45 + ROW_46, ids=lambda given: str(given)[:24])
def test_rows_44_to_46_a_bad_record_is_quarantined_with_its_place_and_its_neighbours_are_read(read, line, code):
    sound = json.dumps(STEP).encode()
    line = line.rstrip(b"\n")
    tables = read({"logs/a.jsonl": sound + b"\n" + line + b"\n" + sound})
    assert reasons(tables) == {"logs/a.jsonl": {2: code}}
    (row,) = tables.rows("raw_quarantine")
    assert row["byte_offset"] == len(sound) + 1
    assert tables.frame("raw_log_files")["accepted"].tolist() == [2]


@pytest.mark.parametrize(("text", "code"), ROW_44[:3] + ROW_45 + ROW_46[:5], ids=lambda given: str(given)[:24])
def test_rows_44_to_46_a_bad_document_is_one_quarantined_record(read, text, code):
    text = text.removeprefix(b"\xef\xbb\xbf{}") or b"\xef\xbb\xbf\xef\xbb\xbf{}"
    assert reasons(read({"logs/a.json": text})) == {"logs/a.json": code if text[:1] in b"{[" else "unsupported_format"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"- dirname: x\n  model: y\n  z: [\n", "malformed_yaml"),
        ('{"a": 1}\n'.encode("utf-16"), "not_utf8"),
        (zipped() + b"\n", "archive_hidden_bytes"),
    ],
)
def test_a_log_that_is_none_of_the_forms_read_counts_as_one_record_and_is_no_unsupported_file(read, data, code):
    (row,) = read({"logs/a": data}).rows("raw_log_files")
    assert (row["reason_code"], row["format"], row["record_unit"]) == (code, None, "file")
    assert (row["lines_in"], row["accepted"], row["quarantined"]) == (1, 0, 1)


@pytest.mark.parametrize(
    "number", [b"1e999", b"-1e999", b"9223372036854775808", b"1" * 5000, b"0.1", b"1.0", b"-0", b"1E400", b"1e-999"]
)
def test_row_45_a_number_is_kept_digit_by_digit(read, number):
    (row,) = read({"declared.jsonl": declared(number)}).rows("core_declared")
    assert (row["value_raw"], row["value_kind"]) == (number.decode(), "number")


@pytest.mark.parametrize(
    "name", ["A", 'a"b', "x; DROP TABLE core_runs; --", "a\nb", "select", "", "\u202e", "__class__"]
)
def test_row_47_a_field_name_is_a_value_and_never_a_column(read, name):
    line = json.dumps(STEP | {"a": 1, name: 2}) + "\n"
    sound, hostile = read({"logs/a.jsonl": [STEP]}, "r-0"), read({"logs/a.jsonl": line}, "r-1")
    for table, frame in hostile.frames.items():
        assert list(frame.columns) == list(sound.frame(table).columns), table
    assert hostile.frame("raw_log_files")["accepted"].tolist() == [1]
    (row,) = read({"declared.jsonl": [{"subject": name or "s", "field": name or "f", "value": 1}]}, "r-2").rows(
        "core_declared"
    )
    assert (row["subject_id"], row["field"]) == (name or "s", name or "f")


def test_row_48_a_name_with_a_meaning_elsewhere_is_a_local_name(read):
    names = ["logs/[ab].jsonl", "logs/*.jsonl", "logs/{a,b}.jsonl", "logs/https:/example.org/x.jsonl", "logs/s3:/b/k",
             "logs/~", "logs/$HOME", "logs/a.jsonl", "logs/b.jsonl"]  # fmt: skip
    files = {name: [STEP] * (index + 1) for index, name in enumerate(names)}
    tables = read(files)
    found = tables.frame("raw_log_files").set_index("path")["accepted"].to_dict()
    assert found == {name: index + 1 for index, name in enumerate(names)}


LINK = zipfile.ZipInfo("samples/l.json")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
WHOLE = [
    ([("../up.json", b"{}")], "archive_bad_name"), ([("/abs.json", b"{}")], "archive_bad_name"),
    ([(LINK, b"/etc/passwd")], "archive_link"),
]  # fmt: skip
MEMBERS = [
    (b"0" * 20_000_000, "archive_ratio"), (zipped(), "nul_byte"), (b"[" * 1000, "too_deep"), (b"{", "malformed_json"),
]  # fmt: skip


@pytest.mark.parametrize(("members", "code"), WHOLE, ids=lambda given: str(given)[:20])
def test_row_49_an_archive_that_leads_out_is_refused_as_a_whole(read, members, code):
    assert reasons(read({"logs/x.eval": zipped(*members)})) == {"logs/x.eval": code}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_row_49_an_archive_with_a_name_twice_is_refused_as_a_whole(read):
    data = zipped(("samples/a.json", b"{}"), ("samples/a.json", b"[]"))
    assert reasons(read({"logs/x.eval": data})) == {"logs/x.eval": "archive_duplicate_name"}


@pytest.mark.parametrize(("data", "code"), MEMBERS, ids=["bomb", "nested", "deep", "broken"])
def test_row_49_a_member_that_breaks_a_bound_is_quarantined_and_the_others_are_read(read, data, code):
    tables = read({"logs/x.eval": zipped(("samples/bad.json", data), ("samples/good_epoch_1.json", b"{}"))})
    assert reasons(tables)["logs/x.eval"]["/samples~1bad.json"] == code
    (row,) = tables.rows("raw_log_files")
    assert (row["format"], row["lines_in"]) == ("inspect_ai", 3)


@pytest.mark.parametrize(
    ("change", "code"), [("crc", "archive_checksum"), ("size", "archive_size"), ("overlap", "archive_overlap")]
)
def test_row_49_a_directory_that_lies_is_found_out(read, change, code):
    data = bytearray(zipped(("samples/a.json", b'{"a":1}')))
    at = data.rindex(b"PK\x01\x02")  # the last entry of the directory
    if change == "crc":
        data[at + 16 : at + 20] = zlib.crc32(b"other").to_bytes(4, "little")
    elif change == "size":
        data[at + 24 : at + 28] = (6).to_bytes(4, "little")
    else:
        data[at + 42 : at + 46] = bytes(4)
    found = reasons(read({"logs/x.eval": bytes(data)}))["logs/x.eval"]
    assert (found if change == "overlap" else found["/samples~1a.json"]) == code


def test_row_50_nothing_is_exported_as_csv_where_a_cell_could_be_a_formula():
    sources = Path(governance_pipeline.__file__).parent.rglob("*.py")
    writers = [path.name for path in sources if "csv.writer" in (text := path.read_text("utf-8")) or "to_csv" in text]
    assert writers == [], "prefix cells that begin with = + - @ or a tab, and test it here"
