"""Contract of `core_criteria`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Flag,
    Real,
    TableModel,
    Text,
    flag,
    real,
    round_id,
    text,
)


class CoreCriteria(TableModel):
    """One row per criterion of a valid round contract.

    No rows where the contract is absent or invalid.
    """

    round_id: Text = round_id()
    criterion_id: Text = text("Id in the contract.")
    key_result_id: Text = text("Key result it belongs to.", null=True)
    is_required: Flag = flag("Required for the round to pass.")
    weight: Real = real("Weight as declared, 0 or more.", null=False, low=0)
    statement: Text = text("What it says.", null=True)
    check_command: Text = text("A step running exactly this command is evidence.", null=True)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "criterion_id"]
        metadata = {"version": 1}
