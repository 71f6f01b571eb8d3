"""The checks of the numbers change events carry beside their files: F, L, M, P and H of `changes.jsonl`.

What belongs here: what each check compares, in words and data, so that the catalogue (crosscheck) lists the very checks
that are made (trajectory). What does not: comparing, proving, explaining. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = "native"
"""Log format whose change events carry these numbers."""

_COUNTED: Final = "counted one by one, so exact"


class ChangeCheck(NamedTuple):
    """One check.

    Attributes:
        check_id: its id.
        field: letter of the number, as an event writes it.
        formula: what it is recomputed by, over the files of the event.
        columns: columns of a file it reads.
        data_type: integer, or float for H.
        unit: of the number.
        epsilon_reason: why its tolerance.
        semantics: where the meaning of the number comes from.
        evidence: how sure that meaning is; the format is our own.
        escalate_to: who looks at a mismatch.
    """

    check_id: str
    field: str
    formula: str
    columns: tuple[str, ...]
    data_type: DataType
    unit: str
    epsilon_reason: str
    semantics: str
    evidence: str = "documented"
    escalate_to: str = "round_owner"


CHANGE_CHECKS: Final[Mapping[str, ChangeCheck]] = MappingProxyType(
    {
        check.field: check
        for check in (
            ChangeCheck(
                "changes_f", "F", "count(distinct files.path)", ("path",), DataType.INTEGER, "files", _COUNTED,
                "files the change event lists, a path listed twice once",
            ),
            ChangeCheck(
                "changes_l", "L", "sum(files.added + files.deleted)", ("added", "deleted"), DataType.INTEGER, "lines",
                _COUNTED, "lines added and deleted in the files the change event lists",
            ),
            ChangeCheck(
                "changes_m", "M", "count(distinct module(files.path))", ("module", "path"), DataType.INTEGER, "modules",
                _COUNTED, "modules of the listed files, where the round contract or every file names them",
            ),
            ChangeCheck(
                "changes_p", "P", "count(distinct files.path in public)", ("path",), DataType.INTEGER, "files",
                _COUNTED, "listed files that lie in a public boundary the round contract declares",
            ),
            ChangeCheck(
                "changes_h", "H",
                "-sum(p * ln(p)), p = sum(files.added + files.deleted) per module(files.path) / that of all",
                ("added", "deleted", "module", "path"), DataType.FLOAT, "nats",
                "logarithms and the order of summation differ in the last digits",
                "entropy of the changed lines over the modules of the listed files",
            ),
        )
    }
)  # fmt: skip
"""Letter of a number -> its check."""

CHANGE_CHECK_IDS: Final = frozenset(check.check_id for check in CHANGE_CHECKS.values())
