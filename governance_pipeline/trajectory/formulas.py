"""The formulas of a dataset: version, epsilon, text of each term, and the digest of the code that computes them.

They travel with every dataset, in its Parquet metadata and as `features_formulas.json`, so that nobody can
recalibrate one unseen. What belongs here: the document, and the refusal to mix datasets of different epsilon or
version. What does not: computing anything. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

SCHEMA: Final = "govern/features-formulas/v1"
FEATURE_VERSION: Final = "trajectory-features-v1"
EPSILON: Final = 1e-6
"""Epsilon of J: keeps the ratio finite where S is 0. Source: spec/trajectory.md §1."""

FILE_NAME: Final = "features_formulas.json"
PREFIX: Final = "features."
"""Beginning of the keys of this module in the metadata of a Parquet file."""

CODE: Final = (
    "rounds/contract.py",
    "rounds/evidence.py",
    "rounds/glob_regex.py",
    "rounds/globs.py",
    "rounds/landing.py",
    "rounds/modules.py",
    "rounds/paths.py",
    "trajectory/accumulated.py",
    "trajectory/base_lines.py",
    "trajectory/baselines.py",
    "trajectory/cohort.py",
    "trajectory/cohort_tables.py",
    "trajectory/comparisons.py",
    "trajectory/conformal.py",
    "trajectory/distance.py",
    "trajectory/entropy.py",
    "trajectory/event_rows.py",
    "trajectory/events.py",
    "trajectory/evidence.py",
    "trajectory/false_discovery.py",
    "trajectory/files.py",
    "trajectory/formulas.py",
    "trajectory/frames.py",
    "trajectory/growth.py",
    "trajectory/martingale.py",
    "trajectory/packed_keys.py",
    "trajectory/reading.py",
    "trajectory/reasons.py",
    "trajectory/rewriting.py",
    "trajectory/robust.py",
    "trajectory/round_features.py",
    "trajectory/rules.py",
    "trajectory/running.py",
    "trajectory/step_columns.py",
    "trajectory/step_surface.py",
    "trajectory/step_terms.py",
    "trajectory/surface.py",
    "trajectory/terms.py",
)
"""Files of this package that decide a value; the code digest is made of their bytes."""


class Formula(NamedTuple):
    """One term: letter, column of its table, unit, formula, and when it is null."""

    term: str
    table: str
    column: str
    unit: str
    formula: str
    unknown_when: str


_STEP: Final = "features_step_surface"
_ROUND: Final = "features_round"
_CONFORMAL: Final = "features_conformal"

FORMULAS: Final = (
    Formula("F", _STEP, "files_count", "files", "number of the event, else distinct files[].path in normal form",
            "neither is given; the step is repeated"),
    Formula("L", _STEP, "churn_count", "lines", "number of the event, else sum of added + deleted over files",
            "neither is given; added or deleted of a file is unknown; the step is repeated"),
    Formula("M", _STEP, "modules_count", "modules", "number of the event, else distinct modules of files",
            "neither is given; the step is repeated"),
    Formula("P", _STEP, "public_count", "files", "number of the event, else files that match [scope] public",
            "neither is given; no public boundary is declared and a file changed; the step is repeated"),
    Formula("D", _STEP, "outside_scope_ratio", "share 0-1",
            "files outside [scope] include / files listed; 0 when none is listed or F = 0; a proxy of distance",
            "the contract declares no include; no files are listed and F is not 0; the step is repeated"),
    Formula("H", _STEP, "entropy_nats", "nats",
            "number of the event, else -sum(p ln p), p = share of the churn (of the files when churn is 0) per module",
            "neither is given; churn of a file is unknown and there are several modules; the step is repeated"),
    Formula("S", _STEP, "surface_sum", "mixed", "F + L + M + P + D + H; descriptive, no risk and no probability",
            "a term is unknown"),
    Formula("E", _STEP, "evidence_share", "share 0-1",
            "required criteria whose last state up to step t, by (step, line), is proven / required; 0 when none is",
            "no valid contract; a line of evidence.jsonl is quarantined"),
    Formula("J", _STEP, "evidence_per_surface", "ratio", "(E + epsilon) / (S + epsilon)", "E or S is unknown"),
    Formula("delta_s", _STEP, "surface_sum_delta", "mixed", "S - S of step t - 1",
            "t = 1; step t - 1 has no row; either is unknown"),
    Formula("delta_e", _STEP, "evidence_share_delta", "share", "E - E of step t - 1",
            "t = 1; step t - 1 has no row; either is unknown"),
    Formula("AUS", _ROUND, "aus_round", "mixed", "sum of S over the steps of the round; idle time adds nothing",
            "no step; a line of changes.jsonl is quarantined; a step is missing; an S is unknown"),
    Formula("E", _ROUND, "evidence_share", "share 0-1",
            "required criteria whose last state in the round is proven / required; 0 when none is required",
            "no valid contract; a line of evidence.jsonl is quarantined"),
    Formula("largest_s", _ROUND, "largest_s", "mixed", "largest S of a step", "whenever AUS is"),
    Formula("largest_h", _ROUND, "largest_h", "nats", "largest H of a step",
            "no step; a line of changes.jsonl is quarantined; a step is missing; an H is unknown"),
    Formula("unproven_growth", _ROUND, "unproven_growth", "mixed",
            "sum of max(0, S - S of step t - 1) over the steps with E <= E of step t - 1; S and E before step 1 are 0",
            "whenever AUS is; an E is unknown"),
    Formula("rewrite_share", _ROUND, "rewrite_share", "share 0-1",
            "sum of min(deleted, lines at base) / sum of lines at base, over touched files that were at [repo] base",
            "no [repo] with path and commit id, or it cannot be read; a step is missing, repeated or lists no files; "
            "deleted lines of a file are unknown; no such file has a line"),
    Formula("robust_z", _CONFORMAL, "robust_z", "ratio",
            "(value - median) / (1.4826 * MAD) over the rounds of the cohort that ended strictly before",
            "no cohort; no end of the round; the value is unknown; no reference; MAD = 0"),
    Formula("max_z", _CONFORMAL, "value", "ratio",
            "largest (x - median) / (1.4826 * MAD) of the vector, median and MAD over reference and round together",
            "a value of the vector is unknown; every MAD is 0"),
    Formula("p", _CONFORMAL, "p_value", "share 0-1",
            "(1 + reference rounds at least as large) / (n + 1); how extreme, no probability of being wrong",
            "the value is unknown; (n + 1) * level < 1"),
    Formula("p_adjusted", _CONFORMAL, "p_adjusted", "share 0-1",
            "min(1, min over j >= rank of m * p_(j) / j) over the m known p of the round (Benjamini-Hochberg)",
            "p is unknown; the test martingale of the reference reached its bound"),
)  # fmt: skip
"""Every formula of version 1, in the order of the specification."""


def formulas_document() -> dict[str, Any]:
    """Give the `govern/features-formulas/v1` document."""
    return {
        "schema": SCHEMA,
        "feature_version": FEATURE_VERSION,
        "epsilon": EPSILON,
        "code_digest": code_digest(),
        "terms": [formula._asdict() for formula in FORMULAS],
    }


def formulas_text() -> str:
    """Give the text of `features_formulas.json`: the document, always in the same bytes."""
    return json.dumps(formulas_document(), ensure_ascii=False, indent=1) + "\n"


@cache
def code_digest() -> str:
    """Give the SHA-256 of the list of [file, SHA-256 of its bytes] of `CODE`, as RFC 8785 JSON."""
    package = resources.files("governance_pipeline")
    return sha256_hex(canonical_json([[name, sha256_hex(package.joinpath(name).read_bytes())] for name in CODE]))


def metadata() -> dict[str, str]:
    """Give what the Parquet file of a feature table carries: version, epsilon, code digest, and the whole document."""
    return {
        f"{PREFIX}version": FEATURE_VERSION,
        f"{PREFIX}epsilon": repr(EPSILON),
        f"{PREFIX}code_digest": code_digest(),
        f"{PREFIX}formulas": formulas_text(),
    }


def refuse_other_metadata(found: Mapping[str, str], where: str) -> None:
    """Refuse the metadata of a dataset made with another epsilon or version, or without either.

    The code digest may differ: it says that code changed, not that a formula did.

    Args:
        found: metadata of its Parquet file.
        where: names the dataset in the error.

    Raises:
        StorageError: it must not be mixed with datasets of this program.
    """
    version, epsilon = found.get(f"{PREFIX}version"), found.get(f"{PREFIX}epsilon")
    _refuse([(version, epsilon)], where)


def refuse_other_formulas(frame: pd.DataFrame, where: str) -> None:
    """Refuse a feature frame with rows of another epsilon or version; arguments and error as above."""
    pairs = frame[["feature_version", "epsilon"]].drop_duplicates()
    _refuse([(str(version), repr(float(epsilon))) for version, epsilon in pairs.itertuples(index=False)], where)


def _refuse(pairs: Iterable[tuple[str | None, str | None]], where: str) -> None:
    own = (FEATURE_VERSION, repr(EPSILON))
    others = sorted(f"{version} with epsilon {epsilon}" for version, epsilon in pairs if (version, epsilon) != own)
    if others:
        raise StorageError(
            f"{where} was made by {', '.join(others)}, this program computes {own[0]} with epsilon {own[1]}; they are "
            "not comparable: make the table again"
        )
