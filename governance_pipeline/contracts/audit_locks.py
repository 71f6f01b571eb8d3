"""Contract of `audit_locks`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    text,
    utc,
)


class AuditLocks(TableModel):
    """One row per lock of the governed folder that was ever taken: who holds it, and whether they still live.

    standing: free, live, orphaned (its owner is proven dead) or unknown (whether the owner lives cannot be told; the
    lock counts as held). Members of the owner are null where no owner is recorded or the record is another program's.
    """

    lock: Text = text("Name of the lock.", pattern=r"^[a-z0-9][a-z0-9_.-]{0,79}$")
    standing: Text = text("free, live, orphaned or unknown.", pattern=r"^(free|live|orphaned|unknown)$")
    reason_code: Text = text(
        "What shows it.",
        pattern=r"^(kernel_lock_held|no_owner|owner_unreadable|process_alive|process_gone|pid_reused"
        r"|machine_restarted|kernel_lock_free|other_machine|identity_not_recorded)$",
    )
    mode: Text = text(
        "process: a kernel lock that ends with its holder. claim: in the name of another process.",
        null=True,
        pattern=r"^(process|claim)$",
    )
    pid: Count = count("Process that holds it, by its number.", null=True, at_least=1)
    start_ticks: Count = count("When that process started, in clock ticks since the boot.", null=True)
    boot_id: Text = text("Boot of the machine in which both mean something.", null=True)
    host: Text = text("Machine by its name.", null=True)
    user_name: Text = text("Account that holds it.", null=True)
    command: Text = text("What runs under it, as recorded.", null=True)
    purpose: Text = text("What for, as recorded.", null=True)
    started_at: Utc = utc("When it was taken.")
    heartbeat_at: Utc = utc("Last sign of life.")
    is_silent: Flag = flag(
        "The holder gave no sign of life for four times the usual; null without a holder.", null=True
    )
    takeover_count: Count = count("How often it was taken from a dead owner, by ledger and folder.")
    last_takeover_at: Utc = utc("When last.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["lock"]
        metadata = {"version": 1, "by_round": False}
