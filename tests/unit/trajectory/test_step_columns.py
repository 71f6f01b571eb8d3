"""Steps as columns give, to the last bit, what a step at a time gives, on changes nobody would make.

The plain form below is the readable definition: sets, dicts and sums, one step after the other. It shares with the
columns the terms of one event alone, which `test_surface` and `test_terms` hold against a plain count.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.trajectory.event_rows import CHANGES_FILE, Origin
from governance_pipeline.trajectory.events import Declared, Event
from governance_pipeline.trajectory.evidence import evidence_by_round, evidence_per_surface
from governance_pipeline.trajectory.files import event_files
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.rules import rules_of
from governance_pipeline.trajectory.step_surface import COLUMN_OF, STEP_TABLES, mismatches_of, step_surface
from governance_pipeline.trajectory.surface import surface_sum
from governance_pipeline.trajectory.terms import counted, repeated, terms_of

ROUNDS = ("r-1", "r-2", "r-3")
PATHS = ("src/a.py", "./src/a.py", "src/api/c", "docs/d", "../up", "x\0y", "x")
NUMBER = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([2**53 + 1, 2**62, 2**63 - 1]))
FILES = st.lists(
    st.tuples(st.sampled_from(PATHS), NUMBER, NUMBER, st.sampled_from([None, None, "m", "src"])), max_size=4
)
ENTROPY = st.sampled_from([None, None, "0.6931471805599453", "0", "-0", "1.7e308", "0.69314818055994529", "3"])
LINE = st.tuples(
    st.sampled_from(ROUNDS), st.integers(1, 4), st.one_of(st.none(), FILES), st.tuples(NUMBER, NUMBER, NUMBER, NUMBER),
    ENTROPY, st.booleans(),
)  # fmt: skip
EDIT = st.tuples(st.sampled_from(ROUNDS), st.sampled_from(["run", "run\0", "a"]), st.integers(1, 3), FILES)
CONTRACT = st.fixed_dictionaries(
    {
        "contract_state": st.sampled_from(["valid", "valid", "absent", "invalid"]),
        "scope_include": st.sampled_from([None, "[]", '["src/**"]']),
        "scope_public": st.sampled_from([None, '["src/api/**"]']),
        "module_rule": st.sampled_from([None, "dir:1", "dir:2"]),
    }
)
RECORD = st.tuples(
    st.sampled_from(ROUNDS), st.integers(1, 5), st.sampled_from("ABX"), st.sampled_from(["proven", "refuted"])
)


def plain_step_surface(tables) -> pd.DataFrame:
    """Give what `step_surface` gives of the same tables."""
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    evidence = evidence_by_round(rules, tables["core_evidence"], tables["raw_quarantine"])
    rows = []
    before: dict[str, Any] = {}
    for (round_id, number), (lines, found) in sorted(_steps(tables).items()):
        event, files = found[0]
        terms = repeated()
        mismatches = []
        if len(found) == 1:
            (count,) = counted(event_files(_listed(files), [rules[round_id]]))
            terms = terms_of(event, count, rules[round_id])
            mismatches = mismatches_of(event, count, rules[round_id])
        total = surface_sum(term.value for term in terms.values())
        terms = {**terms, "E": evidence[round_id].shares([number])[0]}
        reals = {name: float(term.value) for name, term in terms.items() if term.value is not None and name in "DHE"}
        row = {
            "round_id": round_id, "step_index": number, "origin": event.origin.value, "path": event.path,
            "run_id": event.run_id if len(found) == 1 else None, "at": event.at if len(found) == 1 else None,
            **{COLUMN_OF[name]: reals.get(name, term.value) for name, term in terms.items()},
            "surface_sum": total, "evidence_per_surface": evidence_per_surface(terms["E"].value, total),
            "is_repeated": lines > 1, "mismatches": json.dumps(mismatches), "line": event.line,
            "unknown": json.dumps({name: term.reason for name, term in terms.items() if term.reason is not None}),
            "file_sha256": event.file_sha256, "feature_version": FEATURE_VERSION, "epsilon": EPSILON,
        }  # fmt: skip
        follows = (before.get("round_id"), before.get("step_index")) == (round_id, number - 1)
        for name in ("surface_sum", "evidence_share"):
            was = before[name] if follows else None
            row[f"{name}_delta"] = None if was is None or row[name] is None else row[name] - was
        rows.append(row)
        before = row
    return frame_of("features_step_surface", rows)


def _steps(tables) -> dict[tuple[str, int], tuple[int, list[tuple[Event, list[dict[str, Any]]]]]]:
    """Round and step -> lines that give it, and its different events with the files they list."""
    listed = defaultdict(list)
    for row in rows_of(tables["core_file_changes"]):
        place = row["line"] if row["origin"] == Origin.NATIVE else (row["run_id"], row["step_index"])
        listed[row["round_id"], row["origin"], place].append(row)
    lines: dict[tuple[str, int], int] = defaultdict(int)
    events = defaultdict(dict)
    for row in sorted(rows_of(tables["core_changes"]), key=lambda row: (row["round_id"], row["line"])):
        key = (row["round_id"], row["step_index"])
        lines[key] += 1
        files = listed[row["round_id"], Origin.NATIVE, row["line"]]
        events[key].setdefault(row["line_sha256"], (_native(row), files))
    with_file = {row["round_id"] for row in rows_of(tables["raw_log_files"]) if row["path"] == CHANGES_FILE}
    with_file |= {round_id for round_id, _ in lines}
    times = {(row["round_id"], row["run_id"], row["step_index"]): row["at"] for row in rows_of(tables["core_steps"])}
    numbers: dict[str, int] = defaultdict(int)
    for round_id, origin, place in sorted(key for key in listed if key[1] == Origin.LOG and key[0] not in with_file):
        numbers[round_id] += 1
        edits = sorted(listed[round_id, origin, place], key=lambda row: row["change_index"])
        events[round_id, numbers[round_id]][""] = (_log(edits[0], numbers[round_id], times), edits)
    return {key: (lines.get(key, 1), list(found.values())) for key, found in events.items()}


def _native(row: dict[str, Any]) -> Event:
    own = Declared(*(row[name] for name in ("files_count", "churn_count", "modules_count", "public_count")),
                   row["entropy_lexeme"])  # fmt: skip
    place = (row["run_id"], row["at"], row["path"], row["file_sha256"], row["line"])
    return Event(row["round_id"], row["step_index"], Origin.NATIVE, *place, None, row["has_files"], own)


def _log(row: dict[str, Any], number: int, times: dict[Any, Any]) -> Event:
    at = times.get((row["round_id"], row["run_id"], row["step_index"]))
    place = (row["run_id"], at, row["path"], row["file_sha256"], row["line"])
    return Event(row["round_id"], number, Origin.LOG, *place, row["step_index"], True, Declared())


def _listed(files: list[dict[str, Any]]) -> pd.DataFrame:
    ordered = sorted(files, key=lambda row: row["change_index"])
    columns = {"file_path": "string", "added_count": "Int64", "deleted_count": "Int64", "module": "string"}
    cells = {name: pd.array([row[name] for row in ordered], dtype=kind) for name, kind in columns.items()}
    return pd.DataFrame({"event": pd.array([0] * len(ordered), dtype="int64"), **cells})


def tables(lines, edits, contracts, records, shuffle):
    """Tables of the rounds; every step of a log has a time, and rows stand in any order."""
    changes, files, steps, at = [], [], {}, {}
    for round_id, step, listed, numbers, entropy, is_twice in lines:
        digest = f"{len(changes):064x}"
        for _ in range(1 + is_twice):
            at[round_id] = line = at.get(round_id, 0) + 1
            place = {"round_id": round_id, "path": "changes.jsonl", "file_sha256": "a" * 64, "line": line}
            own = dict(zip(("files_count", "churn_count", "modules_count", "public_count"), numbers, strict=True))
            changes.append({**place, **own, "step_index": step, "entropy_lexeme": entropy, "line_sha256": digest,
                            "has_files": listed is not None, "run_id": "x" if step == 1 else None})  # fmt: skip
            files += [
                _file({**place, "origin": "native", "step_index": step}, n, f) for n, f in enumerate(listed or [])
            ]
    for round_id, run_id, step, listed in edits:
        key = {"round_id": round_id, "run_id": run_id, "step_index": step}
        if tuple(key.values()) not in steps and listed:
            steps[tuple(key.values())] = {**key, "at": pd.Timestamp(step, unit="s", tz="UTC")}
            place = {**key, "path": f"logs/{run_id}", "file_sha256": "b" * 64, "origin": "log"}
            files += [_file({**place, "line": n + 1}, n, f) for n, f in enumerate(listed)]
    evidence = [{"round_id": of, "step_index": step, "line": n, "criterion_id": id_, "state": state}
                for n, (of, step, id_, state) in enumerate(records, 1)]  # fmt: skip
    criteria = [{"round_id": of, "criterion_id": id_, "is_required": id_ != "X"} for of in ROUNDS for id_ in "ABX"]
    found = {
        "core_rounds": [{"round_id": of, **one} for of, one in zip(ROUNDS, contracts, strict=True)],
        "core_criteria": criteria, "core_changes": changes, "core_file_changes": files, "core_steps": steps.values(),
        "core_evidence": evidence,
    }  # fmt: skip
    made = {name: frame_of(name, found[name]) if name in found else empty_frame(name) for name in STEP_TABLES}
    for name in ("core_changes", "core_file_changes"):
        order = list(range(len(made[name])))
        shuffle.shuffle(order)
        made[name] = made[name].iloc[order]
    return made


def _file(place, index, file):
    path, added, deleted, module = file
    return {
        **place,
        "change_index": index,
        "file_path": path,
        "added_count": added,
        "deleted_count": deleted,
        "module": module,
    }


@settings(max_examples=60, deadline=None)
@given(
    st.lists(LINE, max_size=7), st.lists(EDIT, max_size=3), st.tuples(*[CONTRACT] * 3), st.lists(RECORD, max_size=4),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_columns_give_what_a_step_at_a_time_gives_to_the_last_bit(lines, edits, contracts, records, shuffle):
    made = tables(lines, edits, contracts, records, shuffle)
    pd.testing.assert_frame_equal(step_surface(made), plain_step_surface(made), check_exact=True)
