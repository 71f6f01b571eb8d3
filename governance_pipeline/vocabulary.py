"""The words every other module uses: identifiers and closed lists of values.

What belongs here: enumerations and the pattern of an identifier. What does not: thresholds (settings) and
anything that reads a file. Sources: design §4, spec/ingest.md §3 and §5, spec/crosscheck.md §3.
"""

from __future__ import annotations

import re
from enum import StrEnum

ROUND_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

ANY_SOURCE = "*"
"""In core_declared.component_paths: every component source of the declared number comes from these files."""

_ROUND_ID = re.compile(ROUND_ID_PATTERN, re.ASCII)


def is_round_id(text: str) -> bool:
    """Tell whether `text` may be a round id (design §4): no `..`, which is Dagster's range sign, no final dot."""
    return bool(_ROUND_ID.match(text)) and not text.endswith("\n") and ".." not in text and not text.endswith(".")


class Layer(StrEnum):
    """Layer of a table: prefix of its name and its Dagster group."""

    RAW = "raw"
    CORE = "core"
    AUDIT = "audit"
    FEATURES = "features"
    VERDICT = "verdict"
    CONFIDENCE = "confidence"
    GATE = "gate"
    PUBLISHED = "published"


class DataType(StrEnum):
    """How a declared number is compared (spec/crosscheck.md §2)."""

    INTEGER = "integer"
    CURRENCY = "currency"
    FLOAT = "float"
    PERCENT = "percent"


class ValueKind(StrEnum):
    """What a source wrote where a number is expected; only NUMBER can become one."""

    NUMBER = "number"
    NOT_FINITE = "not_finite"
    TEXT = "text"
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"
    MISSING = "missing"


class RecordStatus(StrEnum):
    """State of a cross-check record (spec/crosscheck.md §3)."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNVERIFIABLE = "unverifiable"


class Action(StrEnum):
    """What happens with a cross-check record; nothing ever corrects it."""

    ACCEPT = "accept"
    ESCALATE = "escalate_to_human"
    CONFIRM = "confirm_by_human"


class UnknownReason(StrEnum):
    """Why a declared number could not be verified; the first that applies, in this order."""

    DECLARED_QUARANTINED = "declared_quarantined"
    DUPLICATE_SUBJECT = "duplicate_subject"
    DECLARED_MISSING = "declared_missing"
    DECLARED_NOT_A_NUMBER = "declared_not_a_number"
    DECLARED_NOT_FINITE = "declared_not_finite"
    OVERFLOW = "overflow"
    DECLARED_TYPE = "declared_type"
    COMPONENTS_INCOMPLETE = "components_incomplete"
    COMPONENTS_MISSING = "components_missing"
    COMPONENT_MISSING_VALUE = "component_missing_value"
    COMPONENT_NOT_A_NUMBER = "component_not_a_number"
    COMPONENT_NOT_FINITE = "component_not_finite"
    DIVISION_BY_ZERO = "division_by_zero"


class Hypothesis(StrEnum):
    """What may explain a mismatch (spec/crosscheck.md §5b): a closed list. It explains and never excuses."""

    DUPLICATE_EVENTS = "duplicate_events"
    OTHER_DENOMINATOR = "other_denominator"
    SCOPE = "scope"
    OTHER_DEFINITION = "other_definition"
    UNIT = "unit"
    NULL_AS_FALSE = "null_as_false"
    NULL_AS_ZERO = "null_as_zero"
    NOT_MEASURED = "not_measured"
    ROUNDING = "rounding"
    OFF_BY_ONE_CALL = "off_by_one_call"
    STALE = "stale"
    NONE_HOLDS = "none_holds"


class ContractState(StrEnum):
    """State of a round contract."""

    VALID = "valid"
    INVALID = "invalid"
    ABSENT = "absent"


class Disposition(StrEnum):
    """Why a record is in `raw_quarantine`."""

    QUARANTINED = "quarantined"
    DUPLICATE = "duplicate"
    REPEATED_PART = "repeated_part"


class FactKind(StrEnum):
    """What a change did (spec/verdict.md §1); only what went away can become a finding."""

    PARSED = "parsed"
    PARSE_FAILED = "parse_failed"
    TEST_ADDED = "test_added"
    TEST_REMOVED = "test_removed"
    TEST_DISABLED = "test_disabled"
    TEST_ENABLED = "test_enabled"
    ASSERTIONS_CHANGED = "assertions_changed"
    SIGNATURE_ADDED = "signature_added"
    SIGNATURE_REMOVED = "signature_removed"
    SIGNATURE_NARROWED = "signature_narrowed"
    SIGNATURE_CHANGED = "signature_changed"
    DEPENDENCY_ADDED = "dependency_added"
    DEPENDENCY_REMOVED = "dependency_removed"
    DEPENDENCY_UNPINNED = "dependency_unpinned"
    DEPENDENCY_CHANGED = "dependency_changed"
    UNJUDGED = "unjudged"


class ChangeAspect(StrEnum):
    """What is asked of a changed file."""

    PARSING = "parsing"
    TESTS = "tests"
    SIGNATURES = "signatures"
    DEPENDENCIES = "dependencies"


class ExitCode:
    """Exit codes of every command (design §7)."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UNKNOWN = 3
    REFUSED = 4
