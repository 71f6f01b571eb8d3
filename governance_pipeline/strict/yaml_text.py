"""One YAML text from hostile bytes: a value, or a refusal with a code and a byte offset.

What belongs here: everything that decides whether bytes are one acceptable YAML text, and what its scalars are. What
does not: check files, whose faults name lines (crosscheck.check_text), and what the value means (ingest).

PyYAML parses; its constructors are never run, so nothing is turned into a date, an object or a rounded number on the
way. A plain scalar is a number only where it is one in JSON, kept as `strict.json_text` keeps it; `true`, `false`,
`null`, `~` and nothing are what they say; any other scalar is its text: `2025-02-25`, `1_000`, `.nan` and `yes` too.
Anchors, aliases, tags, directives and a second document are refused: what is written once is read once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml
from yaml.composer import ComposerError

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, open_size, refusal_of
from governance_pipeline.strict.json_text import BOM, parse_json
from governance_pipeline.strict.lines import HEAD_BYTES
from governance_pipeline.strict.records import Accepted, Refused

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 2**20
"""Largest YAML file that is read; the largest leaderboard seen has 46 kB, and the parser is slow."""

MAX_DEPTH: Final = 16
"""Levels of lists and mappings; a leaderboard has two. PyYAML's cost grows with the square of the depth."""

_LIST_OF_MAPPINGS: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*\r?\n)*"  # blank lines, comments, a document's start
    rb"-[ ]+[A-Za-z_][\w.-]*:(?:[ ][^\n]*)?\r?\n"
    rb"[ ]+[A-Za-z_][\w.-]*:(?:[ \r\n]|\Z)"
)
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser where libyaml was there at build time
_INDIRECT: Final = (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken, yaml.DirectiveToken)
_OPENING: Final = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING: Final = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def looks_like_yaml_rows(head: bytes) -> bool:
    """Tell by its first lines a block list of mappings, whose first mapping has a second key."""
    return _LIST_OF_MAPPINGS.match(head) is not None


def read_yaml_document(path: Path) -> Accepted | Refused:
    """Read a file that is one YAML text, held in memory as a whole; `line` is None in the result.

    Raises:
        FileRefused: the file cannot be opened or read.
    """
    with open_regular(path) as stream:
        try:
            is_too_large = open_size(stream) > MAX_BYTES
            data = stream.read(HEAD_BYTES if is_too_large else MAX_BYTES)
        except OSError as error:
            raise refusal_of(error, path) from None
    if is_too_large:
        return Refused(None, 0, "document_too_large", excerpt(data), 0)
    try:
        return Accepted(None, 0, data, parse_yaml(data))
    except RecordRefused as refusal:
        return Refused(None, 0, refusal.code, excerpt(data), refusal.offset)


def parse_yaml(data: bytes) -> Any:
    """Parse one YAML text into dicts, lists, texts, numbers as `parse_json` has them, booleans and None.

    Raises:
        RecordRefused: with the byte offset where reading stopped and one of the codes document_too_large, not_utf8,
            malformed_yaml, yaml_indirection (an anchor, alias, tag or directive), trailing_data (a second document),
            too_deep, duplicate_member, lone_surrogate.
    """
    if len(data) > MAX_BYTES:
        raise RecordRefused("document_too_large", 0, f"{len(data)} bytes, at most {MAX_BYTES} are read; split the file")
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        raise RecordRefused("not_utf8", error.start, f"not UTF-8 ({error.reason}); convert the file") from None
    try:
        _check_tokens(text)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        # indirection is refused above, so that a composer can only stumble over a second document
        code = "trailing_data" if isinstance(error, ComposerError) else "malformed_yaml"
        message = f"not YAML: {excerpt(str(error), 160)}; repair the source"
        raise RecordRefused(code, _stopped_at(error, text), message) from None
    return None if node is None else _value(node, text)


def _check_tokens(text: str) -> None:
    """Refuse indirection, depth and a second document before a tree is built."""
    depth = documents = 0
    for token in yaml.scan(text, Loader=_LOADER):
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        documents += isinstance(token, yaml.DocumentStartToken)
        if isinstance(token, _INDIRECT):
            raise _refused("yaml_indirection", token, text, "an anchor, alias, tag or directive; write values in place")
        if depth > MAX_DEPTH:
            raise _refused("too_deep", token, text, f"nested deeper than {MAX_DEPTH} levels; flatten the document")
        if documents > 1:
            raise _refused("trailing_data", token, text, "a second document; write one per file")


def _value(node: yaml.Node, text: str) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, text) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        members: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused("malformed_yaml", key, text, "a key that is a list or a mapping; write a text")
            name = _scalar_text(key, text)
            if name in members:
                raise _refused("duplicate_member", key, text, f"member {excerpt(name, 40)} is repeated; keep one")
            members[name] = _value(item, text)
        return members
    content = _scalar_text(node, text)
    if not isinstance(node, yaml.ScalarNode) or node.style:  # quoted, or a block: a text whatever it holds
        return content
    if content in _WORDS:
        return _WORDS[content]
    return parse_json(content.encode()) if _NUMBER.fullmatch(content) else content


def _scalar_text(node: yaml.Node, text: str) -> str:
    content = str(node.value)
    if _SURROGATE.search(content):
        raise _refused("lone_surrogate", node, text, "an escaped surrogate is no character; write the character")
    return content


def _refused(code: str, at: yaml.Node | yaml.Token, text: str, message: str) -> RecordRefused:
    return RecordRefused(code, _bytes_before(text, at.start_mark.index), message)


def _stopped_at(error: yaml.YAMLError, text: str) -> int:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return _bytes_before(text, mark.index if mark is not None else getattr(error, "position", 0) or 0)


def _bytes_before(text: str, characters: int) -> int:
    return len(text[:characters].encode(errors="surrogatepass"))
