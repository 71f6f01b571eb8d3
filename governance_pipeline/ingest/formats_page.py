"""The page `docs/formats.md`: what each supported format declares, what of it can be recomputed, and its traps.

What belongs here: layout. What does not: any statement about a format; all of them are members and docstrings of its
module, so the page says what the code says.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.native.kinds import BY_PLACE
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.strict.yaml_text import MAX_BYTES, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.ingest.logformat import LogFormat

_HEAD: Final = """# Supported log formats

Generated from the format modules (`govern rounds formats --markdown`); a test holds it equal.

A file is recognised by what is in it, never by its name alone; what no format claims is listed as unread, with the
reason. *Declared* are the numbers such a log claims; *recomputable* are those whose parts it also holds, which are
compared; the rest is *unknown*: shown as declared, and never called right. What a log does not say is null in every
table, never 0. The checks are in [checks.md](checks.md); [adding-a-format.md](adding-a-format.md) says how to add one.
"""
_BOUNDS: Final = f"""
**Bounds.** Nothing is cut to fit: what exceeds a bound is quarantined whole, with the reason in brackets, and the rest
is read.

| | one line of JSONL | one JSON document: a file, or a member of an archive |
|---|---|---|
| bytes | {LIMITS.line_bytes:,} (`line_too_long`) | {LIMITS.document_bytes:,} (`document_too_large`) |
| levels of arrays and objects | {LIMITS.depth} (`too_deep`) | {LIMITS.depth} |
| members of objects, all levels added | {LIMITS.keys:,} (`too_many_keys`) | {LIMITS.document_keys:,} |
| commas and opening brackets | {LIMITS.values:,} (`too_many_values`) | {LIMITS.document_values:,} |

A YAML document has at most {MAX_BYTES:,} bytes and {MAX_DEPTH} levels. An archive has at most
{LIMITS.archive_members:,} members and {LIMITS.archive_bytes:,} bytes unpacked, no member grows more than
{LIMITS.archive_ratio} times, and every byte belongs to a member (`archive_hidden_bytes`). Text is UTF-8: JSON in UTF-16
or UTF-32 is `not_utf8`, JSON packed by gzip, bzip2, xz or zstd is `compressed`; convert or unpack it first.
"""
_NOTHING: Final = "nothing"
_BY_ITSELF: Final = "the `session_id` all its records name; without one the file is a round by itself."
_PLACED: Final = "the folder it lies at the top of."


def formats_markdown() -> str:
    """Give the page, one section per format in the order files are offered to them."""
    sections = ("\n".join(_section(log_format)) for log_format in FORMATS)
    return "\n".join([_HEAD + _BOUNDS, *sections]).rstrip() + "\n"


def _section(log_format: LogFormat) -> Iterator[str]:
    unknown = [name for name in log_format.DECLARES if name not in log_format.RECOMPUTABLE]
    yield f"## {log_format.NAME}\n"
    yield f"- Versions seen: {log_format.VERSIONS}"
    yield f"- Declared: {_list(log_format.DECLARES)}"
    yield f"- Recomputable: {_list(log_format.RECOMPUTABLE)}"
    yield f"- Unknown (declared without parts): {_list(unknown)}"
    yield f"- One round: {_round_of(log_format)}\n"
    yield _about(log_format) + "\n"


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or _NOTHING


def _round_of(log_format: LogFormat) -> str:
    if log_format in BY_PLACE.values():
        return _PLACED
    said = inspect.getdoc(getattr(log_format, "belonging", None))
    return _BY_ITSELF if said is None else said.partition("\n")[0].replace("Give ", "", 1)


def _about(log_format: LogFormat) -> str:
    """Give the docstring of the module as Markdown: a list after a line of text needs an empty line before it."""
    name = getattr(log_format, "__name__", type(log_format).__module__)
    lines = inspect.cleandoc(sys.modules[name].__doc__ or "").replace("``", "`").splitlines()
    out: list[str] = []
    for line in lines:
        is_first_item = line.startswith("- ") and out and out[-1] and not out[-1].startswith(("- ", "  "))
        out += ["", line] if is_first_item else [line]
    return "\n".join(out).strip()
