"""A `govern/conformal-input/v1` file, read strictly: everything in it is understood, or the whole of it is refused.

What belongs here: bytes -> question. What does not: computing an answer (`conformal`). The schema says most rules;
ids that repeat and names that are declared nowhere are judged here. Source: spec/trajectory.md §9.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.records import Refused, read_json_document
from governance_pipeline.trajectory.cohort import CohortRound
from governance_pipeline.trajectory.conformal import Question
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SCHEMA_FILE: Final = "conformal-input-v1.json"

ALPHA_CHARACTERS: Final = 400
"""Characters alpha may be written in; it is kept exactly, and a double between 0 and 1 never needs as many zeros."""

_PLACE_CHARACTERS, _MESSAGE_CHARACTERS = 80, 200


def read_conformal_input(path: Path) -> Question:
    """Read a `govern/conformal-input/v1` file.

    Raises:
        UsageError: the file cannot be read, is no strict JSON, breaks the schema, repeats a round, or names a target,
            a vector feature or a value that is not declared; the message names the place.
    """
    try:
        record = read_json_document(path)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"{excerpt(str(path))} cannot be read: {error}") from None
    if isinstance(record, Refused):
        where = f"{excerpt(str(path))}, byte {record.stopped_at}"
        raise UsageError(f"{where}: no strict JSON document ({record.code}); repair it: {record.excerpt}")
    return conformal_question(record.value)


def conformal_question(document: Any) -> Question:
    """Understand a document as `strict.json_text.parse_json` gives it; errors as `read_conformal_input`."""
    alpha = document.get("alpha") if isinstance(document, dict) else None
    given = _with_doubles(document)
    error = best_match(_validator().iter_errors(given))
    if error is not None:
        raise _refused(excerpt(error.json_path, _PLACE_CHARACTERS), excerpt(error.message, _MESSAGE_CHARACTERS))
    if len(str(alpha)) > ALPHA_CHARACTERS:
        raise _refused("$.alpha", f"more than {ALPHA_CHARACTERS} characters; write it shorter")
    rounds = [_round(each, f"$.rounds[{at}]") for at, each in enumerate(given["rounds"])]
    ids = [each.round_id for each in rounds]
    targets, vector, bound = given.get("targets"), given.get("vector") or [], given.get("martingale_bound")
    _refuse_repeated(ids)
    _refuse_undeclared("$.vector", vector, given["features"], "feature")
    _refuse_undeclared("$.targets", targets or [], ids, "round")
    declared = set(given["features"])
    for at, each in enumerate(rounds):
        _refuse_undeclared(f"$.rounds[{at}].values", each.values, declared, "feature")
    return Question(
        rounds=rounds,
        targets=ids if targets is None else targets,
        features=given["features"],
        vector=vector,
        alpha=Fraction(str(alpha)),
        martingale_bound=SETTINGS.martingale_bound if bound is None else bound,
    )


def _round(given: dict[str, Any], place: str) -> CohortRound:
    at = given.get("at")
    if not is_round_id(given["round_id"]):  # a pattern's end also matches before a last line feed
        raise _refused(f"{place}.round_id", "no legal round id; see `round_id` in the schema of the input")
    try:
        end = None if at is None else datetime.fromisoformat(at)
    except ValueError:
        raise _refused(f"{place}.at", "no such date and time; correct it") from None
    texts = {name: given.get(name) for name in ("cohort", "project", "task_kind", "language", "baseline_version")}
    return CohortRound(round_id=given["round_id"], at=end, values=given["values"], **texts)


def _with_doubles(value: Any) -> Any:
    """Replace numbers kept as text by the nearest double; one beyond all doubles becomes infinite, which is refused."""
    if isinstance(value, Lexeme):
        return float(value)
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_doubles(item) for name, item in value.items()}
    return value


def _refuse_repeated(ids: Iterable[str]) -> None:
    """Refuse ids that are the same, also when only the case of letters differs: some file systems cannot part them."""
    repeated = sorted(id_ for id_, count in Counter(id_.lower() for id_ in ids).items() if count > 1)
    if repeated:
        raise _refused("$.rounds", f"round {repeated[0]} is listed twice (case aside); keep one")


def _refuse_undeclared(place: str, names: Iterable[str], declared: Iterable[str], kind: str) -> None:
    known = declared if isinstance(declared, set) else set(declared)
    strange = sorted(name for name in names if name not in known)
    if strange:
        raise _refused(
            place, f"{excerpt(strange[0], _PLACE_CHARACTERS)!r} is no {kind} of this file; add it or drop it"
        )


def _refused(place: str, message: str) -> UsageError:
    return UsageError(f"the conformal input is refused: {place}: {message}")


@cache
def _validator() -> Draft202012Validator:
    file = resources.files("governance_pipeline.trajectory") / "schemas" / SCHEMA_FILE
    return Draft202012Validator(json.loads(file.read_text("utf-8")))
