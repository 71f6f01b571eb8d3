"""The formulas of the tables that need a repository: version, text of each term, digests of code and graph provider.

What belongs here: the document, what a Parquet file carries of it, and the refusal to mix versions. What does not:
version 1 (`formulas`) and computing anything. Source: spec/trajectory.md §2 and §6.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trajectory import amplification_rows, graph_surface
from governance_pipeline.trajectory.formulas import PREFIX, Formula
from governance_pipeline.trajectory.graph_cache import CODE as PROVIDER_CODE
from governance_pipeline.trajectory.graph_cache import provider_digest
from governance_pipeline.trajectory.graph_steps import FEATURE_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "govern/features-formulas/v2"
FILE_NAME: Final = "features_graph_formulas.json"

VERSION_OF: Final = {graph_surface.TABLE: FEATURE_VERSION, amplification_rows.TABLE: amplification_rows.VERSION}
"""Table -> version of its formulas."""

CODE: Final = tuple(
    f"trajectory/{name}.py"
    for name in (
        "amplification", "amplification_rows", "centrality", "commit_changes", "graph_area", "graph_distance",
        "graph_formulas", "graph_steps", "graph_surface", "impact_surface", "repositories", "round_amplification",
        "round_graph", "set_hops", "step_commits", "symbol_changes", "symbol_parts", "symbols", "touch_frequency",
    )
)  # fmt: skip
"""Files of this package that decide a value beyond those of version 1 and of the graph provider."""

_SURFACE: Final = graph_surface.TABLE
_AMPLIFICATION: Final = amplification_rows.TABLE

FORMULAS: Final = (
    Formula("F L M P H", _SURFACE, "files_count churn_count modules_count public_count entropy_nats", "mixed",
            "as trajectory-features-v1", "as trajectory-features-v1"),
    Formula("Y", _SURFACE, "symbols_count", "symbols",
            "functions, classes and methods whose signature or body differs before and after the commit, added and "
            "removed ones included; else the distinct names the event lists",
            "no commit is named and names are not listed for every file; a changed file cannot be read whole or may "
            "hold symbols of a language without a provider"),
    Formula("D", _SURFACE, "objective_hops", "hops",
            "sum over changed files of weight x hops to the nearest file of the objective set / sum of weight; weight "
            "= churn, 1 when unknown, 1 for each when all add to 0; what reaches no objective is left out",
            "no repository at a base commit; no objective set, or none of it in the graph; nothing reaches it"),
    Formula("C", _SURFACE, "centrality_share", "share 0-1",
            "mean PageRank percentile of changed files with the weights of D; damping 0.85, from user to used",
            "no repository at a base commit; nothing that changed is in the graph"),
    Formula("S", _SURFACE, "surface_sum", "mixed", "F + L + Y + M + P + D + H + C; descriptive, no risk",
            "a term is unknown"),
    Formula("AUS", _SURFACE, "aus_to_step", "mixed", "sum of S up to the step",
            "a line of changes.jsonl is quarantined; a step is missing; an S is unknown"),
    Formula("AUS discrete", _SURFACE, "aus_discrete_to_step", "mixed",
            "sum of S x interval, interval 1 for a step with changes, else 0", "whenever AUS is; F is unknown"),
    Formula("AUS seconds", _SURFACE, "surface_seconds_to_step", "mixed x s",
            "sum of S x seconds since the step before", "whenever AUS is; a time is unknown"),
    Formula("A", _AMPLIFICATION, "baseline_amplification candidate_amplification", "commits x files",
            "commits that touch the file x files that use it, directly or through others; candidate: commits of the "
            "round too, graph after the round", "no repository at a base commit; a factor is unknown"),
    Formula("outlier region", _AMPLIFICATION, "region_threshold", "commits x files",
            "above median + k x 1.4826 x MAD of the baseline products of all units, frozen for the candidate",
            "fewer than min_units products; MAD 0"),
)  # fmt: skip
"""Every formula of these tables."""


def formulas_document() -> dict[str, Any]:
    """Give the `govern/features-formulas/v2` document."""
    return {
        "schema": SCHEMA,
        "feature_versions": dict(VERSION_OF),
        "code_digest": code_digest(),
        "provider_digest": provider_digest(),
        "rule": json.loads(amplification_rows.RULE_TEXT),
        "terms": [formula._asdict() for formula in FORMULAS],
    }


def formulas_text() -> str:
    """Give the text of `features_graph_formulas.json`: the document, always in the same bytes."""
    return json.dumps(formulas_document(), ensure_ascii=False, indent=1) + "\n"


@cache
def code_digest() -> str:
    """Give the SHA-256 of the list of [file, SHA-256 of its bytes] of the code, as RFC 8785 JSON."""
    package = resources.files("governance_pipeline")
    names = sorted({*CODE, *PROVIDER_CODE})
    return sha256_hex(canonical_json([[name, sha256_hex(package.joinpath(name).read_bytes())] for name in names]))


def metadata_of(table: str) -> dict[str, str]:
    """Give what the Parquet file of one of these tables carries."""
    return {
        f"{PREFIX}version": VERSION_OF[table],
        f"{PREFIX}code_digest": code_digest(),
        f"{PREFIX}provider_digest": provider_digest(),
        f"{PREFIX}formulas": formulas_text(),
    }


def refuse_other_version(table: str, found: Mapping[str, str], where: str) -> None:
    """Refuse the metadata of a dataset of another version of the formulas, or of none.

    Raises:
        StorageError: it must not be mixed with datasets of this program.
    """
    version = found.get(f"{PREFIX}version")
    if version != VERSION_OF[table]:
        raise StorageError(
            f"{where} was made by {version}, this program computes {VERSION_OF[table]}; they are not comparable: make "
            "the table again"
        )
