"""The rules of a contract, judged batch by batch while rows pass by: certainly kept, or not certain.

What belongs here: proofs that are cheap because the rows are usually sound. What does not: naming what is broken; where
nothing is proven, the rules are run over all rows by SQL (`sql_rules`), which alone says so. A proof is never weaker
than a rule, and a test holds it to the other ways of judging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.rules import Rule, rules_of
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from governance_pipeline.contracts.fields import TableModel

_DIGEST_DIGITS: Final = 64
_DIGEST: Final = SHA256_PATTERN.removeprefix("^").removesuffix("$")
_DECIMAL, _BEYOND_DECIMAL = 10, 6
_PIECE: Final = 2**16  # bytes judged at once, so that what is made of them stays in the cache
_COMPARISONS: Final = {"ge": pc.greater_equal, "le": pc.less_equal, "eq": pc.equal}


class BatchRules:
    """Watches the rows of one table, in order; memory grows with the keys that share all but their number."""

    def __init__(self, model: type[TableModel]) -> None:
        *self._rules, self._key = rules_of(model)
        self._schema = arrow_schema(model)
        self._last: dict[tuple[Any, ...], int] = {}
        self.are_kept = True
        """Whether every row seen certainly keeps every rule; once false it stays so."""

    def see(self, batch: pa.RecordBatch) -> None:
        """Judge more rows."""
        if self.are_kept and len(batch):
            self.are_kept = (
                batch.schema.equals(self._schema)
                and all(_is_kept(rule, batch.column(rule.column)) for rule in self._rules)
                and self._is_new(batch)
            )

    def _is_new(self, batch: pa.RecordBatch) -> bool:
        """Tell whether no key occurs twice, since the one number in it grows wherever the texts in it are the same."""
        columns = [batch.column(name) for name in self._key.columns]
        numbers = [column for column in columns if pa.types.is_integer(column.type)]
        texts = [column for column in columns if pa.types.is_string(column.type)]
        if len(numbers) != 1 or len(texts) + 1 != len(columns) or any(column.null_count for column in columns):
            return False
        codes, groups = _grouped(texts, len(batch))
        order = np.argsort(codes, kind="stable")
        codes, values = codes[order], numbers[0].to_numpy()[order]
        is_first = np.append(True, codes[1:] != codes[:-1])
        if not ((values[1:] > values[:-1]) | is_first[1:]).all():
            return False
        firsts = np.flatnonzero(is_first)
        lasts = values[np.append(firsts[1:], len(values)) - 1].tolist()
        for group, first, last in zip(groups, values[firsts].tolist(), lasts, strict=True):
            if self._last.get(group, first - 1) >= first:
                return False
            self._last[group] = last
        return True


def _grouped(texts: list[pa.Array], rows: int) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[tuple[Any, ...]]]:
    """Number the rows by their texts, and give the texts of each number, in order."""
    codes = np.zeros(rows, np.int64)
    groups: list[tuple[Any, ...]] = [()]
    for column in texts:
        encoded = column.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if len(values) == 1:
            groups = [(*group, values[0]) for group in groups]
            continue
        both = codes * len(values) + encoded.indices.to_numpy()
        present, codes = np.unique(both, return_inverse=True)
        groups = [(*groups[pair // len(values)], values[pair % len(values)]) for pair in present.tolist()]
    return codes, groups


def _is_kept(rule: Rule, column: pa.Array) -> bool:
    """Tell whether every cell certainly keeps a rule; null breaks none but `not_null`."""
    if rule.kind == "not_null":
        return bool(column.null_count == 0)
    if column.null_count == len(column):
        return True
    if rule.kind == "matches":
        return _are_digests(column) if rule.argument == _DIGEST else _match(column, rule.argument)
    if rule.kind == "finite":
        return _holds(pc.is_finite(column))
    if rule.kind == "isin":
        return _holds(pc.is_in(column.drop_null(), pa.array(list(rule.argument), column.type)))
    return rule.kind in _COMPARISONS and _holds(_COMPARISONS[rule.kind](column, pa.scalar(rule.argument, column.type)))


def _holds(cells: pa.Array) -> bool:
    return pc.all(cells, skip_nulls=True).as_py() is not False


def _match(column: pa.Array, pattern: str) -> bool:
    values = pc.unique(column.drop_null())
    return _holds(pc.match_substring_regex(values, f"^(?:{pattern})\\z"))


def _are_digests(column: pa.Array) -> bool:
    """Tell whether all are 64 digits of lower-case hex, by their bytes."""
    present = column.drop_null() if column.null_count else column
    bounds = np.frombuffer(present.buffers()[1], np.int32)[present.offset : present.offset + len(present) + 1]
    if not (np.diff(bounds) == _DIGEST_DIGITS).all():
        return False
    digits = np.frombuffer(present.buffers()[2], np.uint8)[bounds[0] : bounds[-1]]
    return all(_are_hex(digits[start : start + _PIECE]) for start in range(0, len(digits), _PIECE))


def _are_hex(digits: np.ndarray[Any, np.dtype[np.uint8]]) -> bool:
    """Tell it by distances from 0 and from a, which wrap around below them."""
    return bool(((digits - np.uint8(ord("0")) < _DECIMAL) | (digits - np.uint8(ord("a")) < _BEYOND_DECIMAL)).all())
