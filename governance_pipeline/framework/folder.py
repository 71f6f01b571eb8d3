"""Where everything of a governed project folder is: the one list of its paths.

What belongs here: names and places. What does not: what is in the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

POLICIES: Final = "00_governance/policies.md"
SAFETY_CHECKS: Final = "00_governance/safety_checks.py"
ALLOWLIST: Final = "00_governance/agent_allowlist.md"
REBASELINE_PROTOCOL: Final = "00_governance/re_baseline_protocol.md"
INCIDENT_LOG: Final = "00_governance/audit_logs/incident_log.md"
AUDIT_TRAIL: Final = "00_governance/audit_logs/audit_trail.jsonl"
REQUIREMENTS: Final = "02_specs/requirements.md"
PROMPT_REGISTRY: Final = "02_specs/prompt_registry.json"
STATE: Final = "03_state/current_state.json"
REGISTRY: Final = "03_state/canonical_registry.json"
HISTORY: Final = "03_state/history"
CHECKPOINTS: Final = "03_state/checkpoints"
LOCKS: Final = "03_state/locks"


class GovernedFolder:
    """A project folder that `govern init` made.

    Args:
        root: the folder; its state file must be there, so that no other folder is taken for one by mistake.

    Raises:
        UsageError: no such folder, or it holds no `03_state/current_state.json`.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise UsageError(f"there is no folder {root}; make a governed project with `govern init {root}`")
        if not (root / STATE).is_file():
            raise UsageError(f"{root} is no governed project: {STATE} is missing; add it with `govern init {root}`")
        self.root = root

    def path(self, name: str) -> Path:
        """Give the place of one of the names above, or of another path relative to the folder."""
        return self.root / name
