"""Read a round contract, or refuse it with every fault in it.

What belongs here: which keys a contract has and the rules between them. What does not: TOML (`rounds.toml_text`), the
soundness of one value (`rounds.fields`), and whether `[policy]` only tightens the policy document, which needs that
document (spec/verdict.md §2). Source: spec/ingest.md §2.

Codes of faults: document_too_large, not_utf8, byte_order_mark, too_deep, too_many_keys, toml_syntax (the first of
these ends the reading); unknown_key, missing_key, wrong_type, unknown_value, unknown_schema, blank_text, bad_glob,
bad_round_id, bad_module_rule, bad_threshold, bad_weight, integer_out_of_range, duplicate_id, unknown_key_result; and
unreadable, which only `read_contract` gives.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from governance_pipeline.errors import ContractTextError, Fault, UnreadableError
from governance_pipeline.rounds.contract import (
    SCHEMA,
    Criterion,
    GoalPolicy,
    KeyResult,
    Mode,
    Module,
    Policy,
    Repo,
    RoundContract,
    Scope,
)
from governance_pipeline.rounds.fields import TableReader, is_blank
from governance_pipeline.rounds.modules import is_module_rule
from governance_pipeline.rounds.toml_text import DOCUMENT_BYTES, parse_toml
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, open_regular
from governance_pipeline.strict.lines import read_blocks
from governance_pipeline.vocabulary import ContractState, is_round_id

if TYPE_CHECKING:
    from pathlib import Path


def load_contract(path: Path, *, single_link: bool = False) -> RoundContract:
    """Read the contract in a file; with `single_link` one that has a second hard link is none to read.

    Raises:
        ContractTextError: the file is no valid contract; holds all faults, ordered by line.
        UnreadableError: there is no regular file to read.
    """
    try:
        with open_regular(path, single_link=single_link) as stream:
            data = b"".join(read_blocks(stream, DOCUMENT_BYTES + 1))
    except OSError as error:
        raise FileRefused("io_error", path, error.strerror or "") from None
    return parse_contract(data, str(path))


def read_contract(
    path: Path | None, *, single_link: bool = False
) -> tuple[ContractState, RoundContract | None, list[Fault]]:
    """Say what contract a round has: its state, the contract if it is valid, its faults if it is not.

    Never raises for what is in the file or in its place: a round whose contract cannot be used is still ingested. No
    path, or nothing at it, is an absent contract; something there that cannot be read is an invalid one.
    """
    if path is None or not os.path.lexists(path):
        return ContractState.ABSENT, None, []
    try:
        return ContractState.VALID, load_contract(path, single_link=single_link), []
    except ContractTextError as error:
        return ContractState.INVALID, None, error.faults
    except UnreadableError as error:
        return ContractState.INVALID, None, [Fault("unreadable", None, str(error))]


def parse_contract(data: bytes, name: str) -> RoundContract:
    """Read the contract in `data`; `name` is what errors call it.

    Raises:
        ContractTextError: with all faults, ordered by line.
    """
    text = parse_toml(data)
    if isinstance(text, Fault):
        raise ContractTextError(name, [text])
    faults: list[Fault] = []
    contract = _contract(TableReader.of(text, faults))
    if faults:
        raise ContractTextError(name, sorted(faults, key=lambda fault: (fault.line or 0, fault.code, fault.message)))
    return contract


def _contract(document: TableReader) -> RoundContract:
    _check_schema(document)
    key_results = _key_results(document)
    known = None if key_results is None and "key_result" in document.keys else {kr.id for kr in key_results or ()}
    round_ = document.section("round")
    contract = RoundContract(
        objective=round_.text("objective"),
        project=round_.text("project"),
        cohort=round_.text("cohort"),
        task_kind=round_.text("task_kind"),
        language=round_.text("language"),
        parent=_parent(round_),
        baseline_version=round_.text("baseline_version"),
        mode=round_.choice("mode", Mode) or Mode.QUICK,
        contributes_to=_contributes_to(round_, known),
        key_results=key_results,
        criteria=_criteria(document, known),
        scope=_scope(document),
        modules=_modules(document),
        policy=_policy(document),
        repo=_repo(document),
    )
    round_.refuse_rest()
    document.refuse_rest()
    return contract


def _check_schema(document: TableReader) -> None:
    schema = document.mandatory_text("schema")
    if schema and schema != SCHEMA:
        document.refuse("unknown_schema", "schema", f'is "{excerpt(schema, 80)}"; this version reads "{SCHEMA}"')


def _key_results(document: TableReader) -> tuple[KeyResult, ...] | None:
    tables = document.tables("key_result")
    if tables is None:
        return None
    first_lines: dict[str, int] = {}
    results = []
    for table in tables:
        results.append(KeyResult(_unique_id(table, first_lines), table.text("text")))
        table.refuse_rest()
    return tuple(results)


def _criteria(document: TableReader, known: set[str] | None) -> tuple[Criterion, ...] | None:
    tables = document.tables("criterion")
    if tables is None:
        return None
    first_lines: dict[str, int] = {}
    criteria = []
    for table in tables:
        criterion = Criterion(
            id=_unique_id(table, first_lines),
            kr=table.text("kr"),
            required=table.flag("required", default=True),
            weight=table.weight("weight", default=1.0),
            text=table.text("text"),
            check=table.text("check"),
        )
        if criterion.kr is not None:
            _check_key_result(table, criterion.kr, known, "kr")
        table.refuse_rest()
        criteria.append(criterion)
    return tuple(criteria)


def _unique_id(table: TableReader, first_lines: dict[str, int]) -> str:
    """Return the id of a key result or criterion, and refuse one that was seen before."""
    id_ = table.mandatory_text("id")
    if id_ in first_lines:
        message = f'"{excerpt(id_, 80)}" is already the id of line {first_lines[id_]}; choose another'
        table.refuse("duplicate_id", "id", message)
    elif id_:
        first_lines[id_] = table.line("id")
    return id_


def _check_key_result(table: TableReader, id_: str, known: set[str] | None, key: str, *below: int) -> None:
    """Refuse the id of a key result that is not declared; `known` is None when the declarations cannot be read."""
    if known is not None and id_ not in known:
        message = f'names "{excerpt(id_, 80)}", which is no declared key result; declare it under [[key_result]]'
        table.refuse("unknown_key_result", key, message, *below)


def _contributes_to(round_: TableReader, known: set[str] | None) -> tuple[str, ...] | None:
    ids = round_.texts("contributes_to")
    seen: set[str] = set()
    for position, id_ in enumerate(ids or ()):
        if not id_:
            continue
        _check_key_result(round_, id_, known, "contributes_to", position)
        if id_ in seen:
            message = f'repeats "{excerpt(id_, 80)}"; name each key result once'
            round_.refuse("duplicate_id", "contributes_to", message, position)
        seen.add(id_)
    return ids


def _parent(round_: TableReader) -> str | None:
    parent = round_.text("parent")
    if parent is not None and not is_round_id(parent):
        message = f'is "{excerpt(parent, 80)}", which no round can be called; write a round id'
        round_.refuse("bad_round_id", "parent", message)
    return parent


def _scope(document: TableReader) -> Scope:
    table = document.section("scope")
    rule = table.text("module_rule")
    if rule is not None and not is_module_rule(rule):
        table.refuse("bad_module_rule", "module_rule", f'is "{excerpt(rule, 80)}"; write dir:1 to dir:99')
    scope = Scope(
        include=table.globs("include"),
        non_goals=table.globs("non_goals"),
        public=table.globs("public"),
        objective_set=table.globs("objective_set"),
        canonical=table.globs("canonical"),
        module_rule=rule,
    )
    table.refuse_rest()
    return scope


def _modules(document: TableReader) -> tuple[Module, ...] | None:
    table = document.table("modules")
    if table is None:
        return None
    for name in table.keys:
        if is_blank(name):
            table.refuse("blank_text", name, "is a blank module name; write a name")
    return tuple(Module(name, table.globs(name) or ()) for name in table.keys)


def _policy(document: TableReader) -> Policy:
    table = document.section("policy")
    policy = Policy(
        goal_substitution=table.choice("goal_substitution", GoalPolicy),
        material_files=table.threshold("material_files"),
        material_churn=table.threshold("material_churn"),
    )
    table.refuse_rest()
    return policy


def _repo(document: TableReader) -> Repo | None:
    table = document.table("repo")
    if table is None:
        return None
    repo = Repo(path=table.text("path"), base=table.text("base"), directed=table.flag("directed", default=False))
    table.refuse_rest()
    return repo
