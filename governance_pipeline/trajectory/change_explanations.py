"""Rows of `audit_explanations` about the numbers of change events: what else a mismatched number may have counted.

What belongs here: the hypotheses for F, L, M, P and H, each another count over the files of the same event, tried on
every mismatch and listed whether it holds or not. What does not: the flag. It only reads `audit_cross_checks`, and
nothing it finds reaches a record: explain, never excuse (spec/crosscheck.md §5b).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.audit_explanations import NONE_HELD
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.rounds.change_checks import CHANGE_CHECK_IDS, CHANGE_CHECKS
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical, declared_decimals, shortest
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.reading import READING_TABLES, read_surface
from governance_pipeline.vocabulary import Hypothesis, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pandas as pd

    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.files import PlacedFile
    from governance_pipeline.trajectory.reading import Surface

CHANGE_EXPLANATION_TABLES: Final = ("audit_cross_checks", *READING_TABLES)
"""Tables `change_explanations` reads."""

ALL: Final = "all"
_WIDE: Final = Context(prec=60)
_DECIMALS: Final = 9
"""Digits after the point that count as precision (spec/crosscheck.md §2)."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a hypothesis reads: rows as listed (lines added, lines deleted), distinct files, and both numbers."""

    listed: tuple[tuple[str, int | None, int | None], ...]
    files: tuple[PlacedFile, ...]
    declared_raw: str
    computed: Decimal


class _Idea(NamedTuple):
    hypothesis: Hypothesis
    reads: str
    formula: str
    value: Callable[[_Facts], Decimal | None]


def change_explanations(tables: Tables) -> pd.DataFrame:
    """Return one row per mismatch of a change event and hypothesis tried; columns as contract `audit_explanations`.

    Ordered as the records; none_holds is last, and only where none holds.

    Args:
        tables: the frames named by `CHANGE_EXPLANATION_TABLES`, of the same rounds, of any number of them.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    checks = tables["audit_cross_checks"]
    is_ours = checks["check_id"].isin(CHANGE_CHECK_IDS) & (checks["status"] == str(RecordStatus.MISMATCH))
    found = list(rows_of(checks[is_ours]))
    rows = _explained(found, read_surface(tables)) if found else ()
    return frame_of("audit_explanations", rows)


def _explained(records: Iterable[Mapping[str, Any]], surface: Surface) -> Iterator[dict[str, Any]]:
    events = {(e.round_id, e.path, e.line): at for at, e in enumerate(surface.events.events)}
    for record in records:
        at = events[record["round_id"], record["declared_path"], record["declared_line"]]
        yield from _rows(record, _facts(record, surface, at))


def _facts(record: Mapping[str, Any], surface: Surface, at: int) -> _Facts:
    listed = surface.events.listed
    rows = rows_of(listed[listed["event"] == at], ("file_path", "added_count", "deleted_count"))
    return _Facts(
        tuple((row["file_path"], row["added_count"], row["deleted_count"]) for row in rows),
        tuple(surface.files.of_event(at)),
        record["declared_raw"],
        Decimal(record["computed"]),
    )


def _rows(record: Mapping[str, Any], facts: _Facts) -> Iterator[dict[str, Any]]:
    keys = {name: record[name] for name in ("round_id", "record_id", "check_id")}
    is_explained, index = False, 0
    for index, idea in enumerate(IDEAS[record["field"]], 1):
        value = idea.value(facts)
        delta = None if value is None else EXACT.subtract(Decimal(record["declared"]), value)
        holds = None if delta is None else delta.copy_abs() <= Decimal(record["epsilon"])
        is_explained = is_explained or holds is True
        yield keys | {
            "attempt_index": index,
            "hypothesis": idea.hypothesis,
            "reads": idea.reads,
            "formula": idea.formula,
            "rows_read": ALL,
            "value": None if value is None else canonical(value),
            "delta": None if delta is None else canonical(delta),
            "holds": holds,
            "reason_code": UnknownReason.COMPONENT_MISSING_VALUE if value is None else None,
        }
    if not is_explained:
        yield keys | {
            "attempt_index": index + 1,
            "hypothesis": Hypothesis.NONE_HOLDS,
            "reads": NONE_HELD,
            "holds": True,
        }


def _listed(facts: _Facts) -> Decimal:
    return Decimal(len(facts.listed))


def _files(facts: _Facts) -> Decimal:
    return Decimal(len(facts.files))


def _changed_files(facts: _Facts) -> Decimal | None:
    return None if any(f.churn is None for f in facts.files) else Decimal(sum(bool(f.churn) for f in facts.files))


def _modules(facts: _Facts) -> Decimal:
    return Decimal(len({file.module for file in facts.files}))


def _folders(facts: _Facts) -> Decimal:
    return Decimal(len({file.path.rpartition("/")[0] for file in facts.files}))


def _added(facts: _Facts) -> Decimal | None:
    return _sum(added for _, added, _ in facts.listed)


def _deleted(facts: _Facts) -> Decimal | None:
    return _sum(deleted for _, _, deleted in facts.listed)


def _net(facts: _Facts) -> Decimal | None:
    added, deleted = _added(facts), _deleted(facts)
    return None if added is None or deleted is None else added - deleted


def _public_modules(facts: _Facts) -> Decimal:
    return Decimal(len({file.module for file in facts.files if file.is_public}))


def _inner(facts: _Facts) -> Decimal:
    return Decimal(sum(not file.is_public for file in facts.files))


def _twice(facts: _Facts) -> Decimal:
    return 2 * facts.computed


def _zero(_: _Facts) -> Decimal:
    return ZERO


def _bits(facts: _Facts) -> Decimal:
    return shortest(float(facts.computed) / math.log(2))


def _share_of_most(facts: _Facts) -> Decimal | None:
    modules = len({file.module for file in facts.files})
    return shortest(float(facts.computed) / math.log(modules)) if modules > 1 else None


def _entropy_of_files(facts: _Facts) -> Decimal | None:
    if any(file.churn is None for file in facts.files):
        return None
    return _entropy([file.churn or 0 for file in facts.files])


def _entropy_of_counts(facts: _Facts) -> Decimal:
    return _entropy(list(Counter(file.module for file in facts.files).values()))


def _rounded(mode: str) -> Callable[[_Facts], Decimal]:
    def value(facts: _Facts) -> Decimal:
        decimals = declared_decimals(facts.declared_raw, _DECIMALS)
        return facts.computed.quantize(Decimal(1).scaleb(-decimals), rounding=mode, context=_WIDE)

    return value


def _entropy(weights: list[int]) -> Decimal:
    total = sum(weights)
    return shortest(math.fsum(-w / total * math.log(w / total) for w in weights if w) + 0.0) if total else ZERO


def _sum(values: Iterable[int | None]) -> Decimal | None:
    known = list(values)
    return None if None in known else Decimal(sum(value or 0 for value in known))


_NOT_MEASURED: Final = _Idea(
    Hypothesis.NOT_MEASURED, "0 written although the event lists files: nobody measured it", "0", _zero
)
_OTHER: Final = Hypothesis.OTHER_DEFINITION
_OF_EACH: Final = {letter: f"2 * ({check.formula})" for letter, check in CHANGE_CHECKS.items()}

IDEAS: Final[Mapping[str, tuple[_Idea, ...]]] = {
    "F": (
        _Idea(Hypothesis.DUPLICATE_EVENTS, "a file once for each time it is listed", "count(files.path)", _listed),
        _Idea(_OTHER, "modules, not files", CHANGE_CHECKS["M"].formula, _modules),
        _Idea(_OTHER, "only files with a changed line", "count(files with added + deleted > 0)", _changed_files),
        _NOT_MEASURED,
    ),
    "L": (
        _Idea(_OTHER, "lines added only", "sum(files.added)", _added),
        _Idea(_OTHER, "lines deleted only", "sum(files.deleted)", _deleted),
        _Idea(_OTHER, "net lines: added less deleted", "sum(files.added - files.deleted)", _net),
        _Idea(Hypothesis.DUPLICATE_EVENTS, "each line counted twice", _OF_EACH["L"], _twice),
        _NOT_MEASURED,
    ),
    "M": (
        _Idea(_OTHER, "files, not modules", CHANGE_CHECKS["F"].formula, _files),
        _Idea(_OTHER, "folders, not modules", "count(distinct folder(files.path))", _folders),
        _Idea(Hypothesis.DUPLICATE_EVENTS, "each module counted twice", _OF_EACH["M"], _twice),
        _NOT_MEASURED,
    ),
    "P": (
        _Idea(_OTHER, "all files, not those of the boundary", CHANGE_CHECKS["F"].formula, _files),
        _Idea(_OTHER, "files outside the boundary", "count(distinct files.path not in public)", _inner),
        _Idea(_OTHER, "modules of the boundary", "count(distinct module(files.path in public))", _public_modules),
        _Idea(Hypothesis.DUPLICATE_EVENTS, "each file counted twice", _OF_EACH["P"], _twice),
        _NOT_MEASURED,
    ),
    "H": (
        _Idea(Hypothesis.UNIT, "in bits, not in nats", "H / ln(2)", _bits),
        _Idea(_OTHER, "as a share of the largest possible value", "H / ln(M)", _share_of_most),
        _Idea(_OTHER, "over files, not over modules", "-sum(p * ln(p)), p of each file", _entropy_of_files),
        _Idea(_OTHER, "of files per module, not of lines", "-sum(p * ln(p)), p of files", _entropy_of_counts),
        _Idea(Hypothesis.ROUNDING, "rounded to the decimals written", "round(H)", _rounded(ROUND_HALF_UP)),
        _Idea(Hypothesis.ROUNDING, "cut to the decimals written", "floor(H)", _rounded(ROUND_FLOOR)),
        _NOT_MEASURED,
    ),
}
"""Letter of a number -> what is tried on a mismatch of it, in this order."""
