"""Small logs written for the tests, in the shapes the real ones have."""

from __future__ import annotations

import hashlib
import json

import pytest

from governance_pipeline.contracts.registry import breaches, frame_of
from governance_pipeline.ingest.accounting import read_file_row
from governance_pipeline.ingest.detection import detect
from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.logfile import LogFile

SESSION = "5e551011-0000-4000-8000-000000000001"


class ClaudeCode:
    """Writes lines of Claude Code sessions; every line has its own uuid and chains to the one before."""

    def __init__(self):
        self.count = 0
        self.parent = None

    def line(self, kind, **members):
        self.count += 1
        line = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "sessionId": SESSION,
            "version": "2.1.80",
            "type": kind,
            "uuid": f"u-{self.count}",
            "timestamp": f"2026-01-05T10:00:{self.count % 60:02d}.000Z",
            **members,
        }
        self.parent = line["uuid"]
        return line

    def user(self, content="do it", **members):
        return self.line("user", message={"role": "user", "content": content}, **members)

    def says(self, *blocks, message_id=None, usage=None, model="claude-opus-4-6", **members):
        message = {"role": "assistant", "model": model, "content": list(blocks)}
        if message_id is not None:
            message["id"] = message_id
        if usage is not None:
            message["usage"] = usage
        return self.line("assistant", message=message, **members)

    def calls(self, name, call_id, call, **members):
        return self.says({"type": "tool_use", "id": call_id, "name": name, "input": call}, **members)

    def result(self, call_id, content="ok", *, is_error=None, result=None, **members):
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        if result is not None:
            members["toolUseResult"] = result
        return self.user([block], **members)


def usage(input_tokens=3, output_tokens=1, creation=0, read=0):
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": creation,
        "cache_read_input_tokens": read,
        "output_tokens": output_tokens,
    }


@pytest.fixture
def claude():
    return ClaudeCode()


@pytest.fixture
def tokens():
    return usage


@pytest.fixture
def session():
    return SESSION


class Tables:
    """What the formats made of some files: the core tables, checked by their contracts, and the account of the files."""

    def __init__(self, folder, files):
        self.unclaimed = {}
        self._raw = {"raw_log_files": [], "raw_quarantine": []}
        found = [self._find(folder, name, files[name]) for name in sorted(files)]
        logs = [entry for entry in found if entry is not None]
        paths = {name: tuple(file.path for other, file in logs if other == name) for name, _ in logs}
        self.out = Extraction("r-1", paths)
        for log_format in FORMATS:
            claimed = [file for name, file in logs if name == log_format.NAME]
            if claimed:
                log_format.read(claimed, self.out)
        for name, file in logs:
            file.close()
            row = {"round_id": "r-1", "path": file.path, "file_sha256": file.sha256, "format": name}
            self._raw["raw_log_files"].append(row | read_file_row(file, name))
            self._raw["raw_quarantine"] += [row | rejected for rejected in file.rejected]

    def _find(self, folder, name, content):
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        data = content if isinstance(content, bytes) else content.encode()
        digest = hashlib.sha256(data).hexdigest()
        (folder / digest).write_bytes(data)
        found = detect(name, folder / digest, FORMATS)
        if found.format is None:
            self.unclaimed[name] = found.reason
            return None
        return found.format.NAME, LogFile(name, digest, len(data), found.sample, folder / digest)

    def frame(self, table):
        frame = frame_of(table, self._raw[table]) if table in self._raw else self.out.frame(table)
        assert frame.empty or breaches(table, frame).empty
        return frame

    def rows(self, table):
        frame = self.frame(table)
        plain = frame.astype(object).where(frame.notna(), None)
        return iter(plain.to_dict("records"))


@pytest.fixture
def read(tmp_path):
    """Give a function that reads files as one round; a list is JSON lines, a text or bytes the file itself."""
    return lambda files: Tables(tmp_path, files)


@pytest.fixture
def rows(read):
    """Give a function that reads files and returns the rows of one table, null as None."""
    return lambda table, files: list(read(files).rows(table))


@pytest.fixture
def one(rows):
    """Give a function that reads a round and returns the only row of a table."""

    def _one(table, files):
        found = rows(table, files)
        assert len(found) == 1, found
        return found[0]

    return _one
