"""A zip archive is read under budgets, and not at all when its directory contradicts itself."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.archive import DEFLATE, STORED, ZSTD, Archive, open_archive
from governance_pipeline.strict.limits import Limits


def packed(data, method):
    if method == ZSTD:
        return pa.compress(data, codec="zstd", asbytes=True)
    if method == DEFLATE:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(data) + packer.flush()
    return data


def archive(*members):
    """Write an archive; a member is (name, data) and what its directory claims otherwise."""
    body, directory = b"", b""
    for name, data, claims in members:
        method = claims.get("method", DEFLATE)
        content = claims.get("packed", packed(data, method))
        path = name.encode()
        crc, size = claims.get("crc", zlib.crc32(data)), claims.get("size", len(data))
        common = (20, claims.get("flags", 0x800), method, 0, 0, crc, claims.get("compressed", len(content)), size)
        offset = claims.get("offset", len(body))
        body += struct.pack("<4s5H3I2H", b"PK\x03\x04", *common, len(path), 0) + path + content
        mode = claims.get("mode", stat.S_IFREG | 0o644) << 16
        directory += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, *common, len(path), 0, 0, 0, 0, mode, offset) + path
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + end


def member(name="a.json", data=b'{"a": 1}', **claims):
    return name, data, claims


def opened(data, **limits):
    return Archive(io.BytesIO(data), Limits(**limits))


def contents(data, **limits):
    found = opened(data, **limits)
    return [found.read(each) for each in found.members]


def refusal(data, **limits):
    """Give the code an archive, or the first member of it that is refused, is refused with."""
    with pytest.raises(RecordRefused) as caught:
        contents(data, **limits)
    return caught.value.code


@pytest.mark.parametrize("method", [STORED, DEFLATE, ZSTD])
def test_a_member_is_read_whatever_packed_it(method):
    found = opened(archive(member(method=method), member("b", b"", method=method)))
    assert [each.name for each in found.members] == ["a.json", "b"]
    assert [found.read(each) for each in found.members] == [b'{"a": 1}', b""]
    assert found.read_json(found.members[0]) == {"a": 1}


def test_what_the_standard_library_writes_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.eval", "w", zipfile.ZIP_DEFLATED) as out:
        out.mkdir("samples")
        out.writestr("samples/1.json", b"[1]")
    with open_archive(tmp_path / "x.eval") as found:
        assert [found.read_json(each) for each in found.members] == [[1]]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", "a//b", "./a", "a\\b", "a\0b", "", "/", "C:\\a"])
def test_a_name_that_leads_out_refuses_the_archive(name):
    assert refusal(archive(member(), member(name))) == "archive_bad_name"


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ([member(), member()], "archive_duplicate_name"),
        ([member(), member("b", mode=stat.S_IFLNK | 0o777)], "archive_link"),
        ([member("folder/", b"x")], "archive_bad_name"),
        ([member(), member("b", offset=0)], "archive_overlap"),
        ([member(), member("b", offset=10)], "archive_overlap"),
        ([member(compressed=10**6)], "archive_overlap"),
        ([member(compressed=12), member("b")], "archive_overlap"),
        ([member(flags=1)], "archive_encrypted"),
        ([member(method=12)], "archive_method"),
        ([member(crc=1)], "archive_checksum"),
        ([member(size=7)], "archive_size"),
        ([member(size=9)], "archive_size"),
        ([member(method=STORED, size=9)], "archive_size"),
        ([member(method=ZSTD, size=7)], "archive_size"),
        ([member(packed=b"\xff\xff\xff")], "archive_corrupt"),
        ([member(method=ZSTD, packed=b"junk")], "archive_corrupt"),
        ([member(packed=packed(b"x" * 99, DEFLATE)[:-2], size=99)], "archive_corrupt"),
        ([member(method=ZSTD, packed=packed(b"x" * 99, ZSTD)[:-2], size=99)], "archive_corrupt"),
    ],
)
def test_what_lies_is_refused_with_its_reason(members, code):
    assert refusal(archive(*members)) == code


@pytest.mark.parametrize("method", [DEFLATE, ZSTD])
def test_a_bomb_is_refused_before_it_is_unpacked(method):
    assert refusal(archive(member("a", b"\0" * 8 * 2**20, method=method))) == "archive_ratio"


@pytest.mark.parametrize("method", [DEFLATE, ZSTD])
def test_a_bomb_that_hides_its_size_is_unpacked_one_byte_too_far_and_no_further(method):
    assert refusal(archive(member("a", b"\0" * 8 * 2**20, method=method, size=100))) == "archive_size"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"archive_members": 1}, "archive_too_many_members"),
        ({"archive_directory_bytes": 60}, "archive_too_large"),
        ({"archive_bytes": 15}, "archive_budget"),
        ({"document_bytes": 7}, "document_too_large"),
    ],
)
def test_each_budget_holds(limits, code):
    assert refusal(archive(member(), member("b")), **limits) == code


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"PK\x05\x06", archive(member())[:-30], b"PK\x05\x06" + b"\xff" * 18]
)
def test_half_an_archive_is_malformed(data):
    assert refusal(data) == "archive_malformed"


WHOLE = archive(member(), member("b"))
INSIDE = len(archive(member())) - 22 - 46 - len("a.json")  # where the second member begins


def streamed(data):
    """Write a member as a packer does that cannot go back: its sizes stand behind it."""
    out = io.BytesIO()
    out.seekable = lambda: False
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packer:
        packer.writestr("a.json", data)
        packer.writestr("b", data)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"\n" + WHOLE,
        WHOLE + WHOLE,
        WHOLE + b"\0",
        WHOLE[:INSIDE] + b"PK\x03\x04 a member somebody took out of the directory" + WHOLE[INSIDE:],
        b"hidden" + archive(),
        archive(member(compressed=3)),
    ],
)
def test_bytes_that_belong_to_no_member_are_not_passed_over(data):
    assert refusal(data) == "archive_hidden_bytes"


def test_the_sizes_behind_a_member_and_a_remark_at_the_end_hide_nothing():
    assert contents(streamed(b"[1]")) == [b"[1]", b"[1]"]
    assert contents(WHOLE[:-2] + struct.pack("<H", 3) + b"eee") == [b'{"a": 1}'] * 2


def test_a_directory_that_points_at_no_member_is_malformed():
    data = archive(member())
    assert refusal(b"XX" + data[2:]) == "archive_malformed"


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40), st.integers(0, 400))
def test_any_bytes_give_members_or_a_refusal(noise, at):
    data = archive(member(), member("b", b"x" * 50, method=ZSTD), member("c/d", b"y", method=STORED))
    data = data[:at] + noise + data[at + len(noise) :]
    with suppress(RecordRefused):
        found = opened(data)
        for each in found.members:
            with suppress(RecordRefused):
                assert len(found.read(each)) == each.size
