"""The public names of a file of a compiled language, and which of them no longer accept what they accepted.

What belongs here: the shape of an interface and the comparison of two. What does not: what is public in a language
(one reader each) and which files are public, which the round contract says (verdict).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.callable_shape import accepts, written
from governance_pipeline.ingest.change_facts.fact import ChangeFact, short, unjudged
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.ingest.change_facts.callable_shape import Shape

NAMES_UNKNOWN: Final = "names_from_elsewhere"
"""Reason: the file gives on names of another file without listing them, or makes them when it runs."""


@dataclass
class Entry:
    """One public name.

    Attributes:
        line: where it stands, from 1.
        shapes: the function under this name, one of each overload; none of a type.
        word: how a type is introduced (`class`, `struct`); "" of a function.
        is_bound: the name is there, and what it stands for is not read: a value, or a name of another file.
        may_inherit: of a type, something it does not define itself may come from elsewhere.
    """

    line: int
    shapes: list[Shape] = field(default_factory=list)
    word: str = ""
    is_bound: bool = False
    may_inherit: bool = False

    def text(self, name: str) -> str:
        """Write it for a person, the overloads one after another."""
        return short(f"{self.word} {name}" if self.word else " | ".join(written(name, one) for one in self.shapes))


@dataclass
class Interface:
    """The public names of one file.

    Attributes:
        names: name -> entry; a member as `Type.member`.
        is_open: further names may be public that are not listed here.
    """

    names: dict[str, Entry] = field(default_factory=dict)
    is_open: bool = False

    def put(self, name: str, entry: Entry) -> None:
        """Add a name; a function already there under it is another overload of the same."""
        known = self.names.get(name)
        if known is None:
            self.names[name] = entry
            return
        known.shapes += entry.shapes
        known.is_bound |= entry.is_bound
        known.may_inherit |= entry.may_inherit


def compare_interfaces(before: Interface, after: Interface, language: str) -> Iterator[ChangeFact]:
    """Tell which public functions, methods and types went away or accept less, in the order of their names."""
    is_unknown = False
    for name, then in sorted(before.names.items()):
        now = after.names.get(name)
        if then.is_bound or (now is not None and now.is_bound):
            continue
        text = then.text(name)
        if now is not None:
            yield from _same_name(name, then, now, language)
        elif after.is_open and "." not in name:
            is_unknown = True
        elif _is_gone(name, before, after):
            yield ChangeFact(FactKind.SIGNATURE_REMOVED, name, text, None, file_line=then.line)
    for name in sorted(after.names.keys() - before.names.keys()):
        new = after.names[name]
        if not new.is_bound:
            yield ChangeFact(FactKind.SIGNATURE_ADDED, name, None, new.text(name), file_line=new.line)
    if is_unknown:
        yield unjudged(ChangeAspect.SIGNATURES, NAMES_UNKNOWN)


def _same_name(name: str, then: Entry, now: Entry, language: str) -> Iterator[ChangeFact]:
    texts = then.text(name), now.text(name)
    if texts[0] == texts[1]:
        return
    lost = [shape for shape in then.shapes if not any(accepts(other, shape, language) for other in now.shapes)]
    kind = FactKind.SIGNATURE_NARROWED if lost and now.shapes else FactKind.SIGNATURE_CHANGED
    yield ChangeFact(kind, name, *texts, file_line=now.line)


def _is_gone(name: str, before: Interface, after: Interface) -> bool:
    """Tell whether a name that is not there is gone; of a type that is gone itself, only the type is reported.

    A type that is in neither version stands in another file (Go, Rust): its methods are told by themselves.
    """
    owner, dot, _ = name.rpartition(".")
    if not dot:
        return True
    known = after.names.get(owner)
    if known is None:
        return owner not in before.names
    return not known.is_bound and not known.may_inherit
