"""A file's format is what is in it; what no format claims has a reason."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import tarfile
import zipfile
import zlib
from types import SimpleNamespace

import pyarrow as pa
import pytest

from governance_pipeline.ingest.detection import SAMPLE_LINES, SAMPLE_VALUES, detect
from governance_pipeline.strict.limits import Limits


def _format(name, claims):
    return SimpleNamespace(NAME=name, detect=claims)


LINES = _format("lines", lambda sample: sample.shape == "jsonl" and any("a" in v for v in sample.values))
DOCUMENT = _format("document", lambda sample: sample.shape == "document" and "a" in sample.values[0])
ANY = _format("any", lambda sample: True)


@pytest.fixture
def look(tmp_path):
    def _look(data, *formats, name="x.jsonl", limits=None):
        path = tmp_path / "copy"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return detect(name, path, formats, *([limits] if limits else []))

    return _look


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "empty"),
        (" \n\t\r\n", "empty"),
        ("a,b\n1,2\n", "unsupported_format"),
        ('{"b": 1}\n', "unsupported_format"),
        ("[1, 2]", "unsupported_format"),
        ("42\n", "unsupported_format"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "unsupported_format"),
        ('{\n "a": 1,\n', "malformed_json"),
        ('{\n "a": nan\n}', "malformed_json"),
        ('{\n "a": NaN\n}', "not_finite"),
        ('{\n "a": 1,\n "a": 2\n}', "duplicate_member"),
        (b'{\n "a": "\xff"\n}', "not_utf8"),
        ("[" * 70, "too_deep"),
        ('\ufeff\n {\n "a"', "malformed_json"),
        ("{", "malformed_json"),
        ("[\n{\n}", "malformed_json"),
        ("[1, 2", "malformed_json"),
        ("[[true, -1.5e3], x]", "malformed_json"),
        ('["a", b]', "malformed_json"),
        ("[package]\nname = 'x'\n", "unsupported_format"),
        ("[[bin]]\nname = 'x'\n", "unsupported_format"),
        ("[![Build](x.svg)](y)\n# Title\n", "unsupported_format"),
        ("[draft] notes\n", "unsupported_format"),
        ("[ ] buy milk\n", "unsupported_format"),
        ("[1] A. Author, 2024\n", "unsupported_format"),
        ("[2024-01-02 03:04:05] started\n", "unsupported_format"),
        ("[12:30:01] started\n", "unsupported_format"),
        ("[trueish] x\n", "unsupported_format"),
        ("{{ name }}\n", "unsupported_format"),
        ("{\\rtf1 x}", "unsupported_format"),
        ("{\n  // a remark\n}", "unsupported_format"),
    ],
)
def test_an_unclaimed_file_has_the_reason_of_what_is_wrong(look, data, reason):
    found = look(data, LINES, DOCUMENT)
    assert (found.format, found.reason, found.sample.shape) == (None, reason, "other")


JSON = '{"a": 1}\n' * 9
GZIP_BITS = 31


def gzipped(data):
    """Pack without the time gzip.compress writes: the names of tests are made of it."""
    packer = zlib.compressobj(wbits=GZIP_BITS)
    return packer.compress(data) + packer.flush()


def tar(*members, kind=tarfile.PAX_FORMAT):
    """Pack members (name, bytes; None for a folder) with the same owner and time everywhere."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=kind) as out:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = (tarfile.DIRTYPE, 0) if data is None else (tarfile.REGTYPE, len(data))
            out.addfile(info, io.BytesIO(data or b""))
    return stream.getvalue()


LOGS = (("logs", None), ("logs/notes.txt", b"text\n" * 300), ("logs/" + "n" * 150, JSON.encode()))
ZSTD = pa.compress(JSON.encode(), "zstd", asbytes=True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        *((JSON.encode(encoding), "not_utf8") for encoding in ("utf-16", "utf-16-be", "utf-16-le", "utf-32")),
        (codecs.BOM_UTF16_BE + "\n [1, 2]".encode("utf-16-be"), "not_utf8"),
        ("notes\n".encode("utf-16"), "unsupported_format"),
        (codecs.BOM_UTF16_LE + b"\x00", "unsupported_format"),
        *((pack(JSON.encode()), "compressed") for pack in (gzipped, bz2.compress, lzma.compress)),
        (ZSTD, "compressed"),
        (gzipped(b"\xef\xbb\xbf\n[1]"), "compressed"),
        (gzipped(JSON.encode() * 2**16), "compressed"),
        (gzipped(b"\0" * 2**20), "unsupported_format"),
        (gzipped(b"notes"), "unsupported_format"),
        (gzipped(JSON.encode("utf-16")), "compressed"),
        *((data + b"broken", "unsupported_format") for data in (b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", ZSTD[:4])),
    ],
)
def test_json_that_is_packed_or_in_another_encoding_is_no_file_nobody_asked_for(look, data, reason):
    """An audit beside it must not look clean: these are logs, only not as they can be read."""
    found = look(data, ANY)
    assert (found.format, found.reason) == (None, reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(tar(*LOGS, kind=tarfile.PAX_FORMAT), "tar_archive", id="pax"),
        pytest.param(tar(*LOGS, kind=tarfile.GNU_FORMAT), "tar_archive", id="gnu"),
        pytest.param(tar(("a", JSON.encode()), kind=tarfile.USTAR_FORMAT), "tar_archive", id="ustar"),
        pytest.param(tar(("a", JSON.encode("utf-16"))), "tar_archive", id="utf-16 inside"),
        pytest.param(gzipped(tar(*LOGS)), "compressed", id="tgz"),
        pytest.param(tar(("a", b"notes\n")), "unsupported_format", id="no log inside"),
        pytest.param(gzipped(tar(("a", b"notes\n"))), "unsupported_format", id="no log inside the tgz"),
    ],
)
def test_logs_in_a_tar_are_not_read_as_the_lines_of_one_log(look, data, reason):
    found = look(data, ANY)
    assert (found.format, found.reason) == (None, reason)


@pytest.mark.parametrize("first", [b'{"a": "%s"}', b"# a remark %s"])
def test_a_log_with_the_mark_of_a_tar_in_its_text_is_no_tar(look, first):
    line = first % (b"x" * 600)
    at = 257
    assert look(line[:at] + b"ustar" + line[at + 5 :] + b"\n" + JSON.encode(), ANY).format is ANY


def test_a_format_that_would_claim_anything_gets_no_file_that_is_not_json(look):
    assert look("just text\n", ANY).reason == "unsupported_format"


TABLE = SimpleNamespace(NAME="table", detect=lambda sample: False, detect_text=lambda head: head.startswith("a,b\n"))


def test_a_file_that_is_not_json_goes_to_a_format_that_knows_its_first_lines(look):
    found = look("\ufeffa,b\n1,2\n", LINES, TABLE)
    assert (found.format, found.sample.shape, found.sample.values) == (TABLE, "text", ())


@pytest.mark.parametrize("data", ["c,d\n", b"a,b\n\xff", "a,b\n\n{}\n", "a,b" + "x" * 5000, ""])
def test_other_text_no_text_a_file_with_json_lines_and_a_line_without_end_are_not_asked_about(look, data):
    assert look(data, TABLE).format is None


def test_the_excerpt_of_an_unclaimed_file_is_escaped(look):
    assert look("\x1b[31mred\n").head == "\\x1b[31mred\\n"


def test_the_name_alone_decides_nothing(look):
    assert look('{"b": 1}', LINES, DOCUMENT, name="a.jsonl").format is None
    assert look('{\n"a": 1\n}', LINES, DOCUMENT, name="a.jsonl").format is DOCUMENT


def test_a_broken_first_line_does_not_hide_the_lines_after_it(look):
    found = look('{"torn": \n{"a": 1}\n', DOCUMENT, LINES)
    assert found.format is LINES
    assert found.sample.values == ({"a": 1},)


def test_an_indented_document_is_not_taken_for_lines(look):
    assert look('[\n{"a": 1}\n]', LINES, _format("list", lambda s: s.shape == "document")).format.NAME == "list"


@pytest.mark.parametrize(("name", "shape"), [("x.json", "document"), ("x.traj", "document"), ("x.jsonl", "jsonl")])
def test_a_single_line_is_offered_both_ways_and_the_name_decides_only_the_order(look, name, shape):
    assert look('{"a": 1}', ANY, name=name).sample.shape == shape
    assert look('{"a": 1}', LINES, name=name).format is LINES
    assert look('{"a": 1}', DOCUMENT, name=name).format is DOCUMENT


def test_the_first_format_that_claims_a_file_has_it(look):
    assert look('{"a": 1}\n{"a": 2}\n', LINES, ANY).format is LINES
    assert look('{"a": 1}\n{"a": 2}\n', ANY, LINES).format is ANY


def test_a_sample_holds_the_first_usable_values_only(look):
    data = "not json\n" + "".join(f'{{"a": {n}}}\n' for n in range(50))
    assert look(data, LINES).sample.values == tuple({"a": n} for n in range(SAMPLE_VALUES))


def test_a_long_text_file_is_given_up(look):
    assert look("text\n" * SAMPLE_LINES + '{"a": 1}\n', LINES).reason == "unsupported_format"


def test_a_document_beyond_its_limit_says_so(look):
    limits = Limits(line_bytes=10, document_bytes=20)
    assert look('{"a": "' + "x" * 40 + '"}', DOCUMENT, limits=limits).reason == "document_too_large"


def test_yaml_rows_are_offered_as_the_document_they_are(look):
    found = look("# rows\n- a: 1\n  b: x\n- a: 2\n", _format("rows", lambda sample: sample.values[0][1] == {"a": 2}))
    assert (found.format.NAME, found.sample.shape) == ("rows", "document")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("- a: 1\n  b: [\n", "malformed_yaml"),
        ("- a: 1\n  a: 2\n", "duplicate_member"),
        ("- a: 1\n  b: x\n", "unsupported_format"),
        ("- a remark: see\n- another: one\n", "unsupported_format"),
    ],
)
def test_yaml_rows_nobody_can_use_have_their_reason(look, data, reason):
    found = look(data, LINES)
    assert (found.format, found.reason) == (None, reason)


def _zip(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as out:
        for name, text in members.items():
            out.writestr(name, text)
    return data.getvalue()


def _header(archive):
    return next((archive.read_json(member) for member in archive.members if member.name == "header"), None)


ARCHIVES = SimpleNamespace(NAME="archives", detect=lambda sample: False, detect_archive=_header)


def test_an_archive_is_claimed_by_the_document_that_describes_it(look):
    found = look(_zip(header='{"a": 1}', b="x"), ANY, ARCHIVES, name="x.eval")
    assert (found.format.NAME, found.sample.shape, found.sample.values) == ("archives", "archive", ({"a": 1},))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_zip(b="x"), "unsupported_format"),
        (_zip(), "unsupported_format"),
        (_zip(header="{"), "malformed_json"),
        (_zip(header="{}")[:-5], "archive_malformed"),
        (b"PK\x03\x04{}\n{}", "archive_malformed"),
    ],
)
def test_an_archive_that_nobody_claims_has_its_reason(look, data, reason):
    found = look(data, ANY, ARCHIVES)
    assert (found.format, found.reason, found.sample.shape) == (None, reason, "other")
