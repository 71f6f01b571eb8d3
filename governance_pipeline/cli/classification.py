"""`govern classification`: rules that classify, and the audited samples that show how often they are wrong.

What belongs here: arguments and printing. What does not: rules; they are in `framework.classification_rules`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG
from governance_pipeline.cli.incident import opened_ledger
from governance_pipeline.cli.signing import KEY, PASSPHRASE, answer, clock, signer_of

if TYPE_CHECKING:
    from governance_pipeline.framework.classification_rules import RuleAudit

SCHEMA = "govern/classification-rules/v1"
RULE = click.argument("rule_id", metavar="RULE")
FILE = click.argument("rule", metavar="FILE", type=click.Path(path_type=Path))


@click.group(
    epilog="\b\nExample: govern classification list\n"
    "Exit: 0, 2 the sample is refused, 3 a file cannot be read, 4 not validated, or the audit would not count"
)
def classification() -> None:
    """Classification rules: none is used before an audited sample shows how often it is wrong."""


@classification.command(
    epilog="Example: govern classification audit bus-types rules.json --sample s.csv --author coder-3 --key eva.pem"
)
@RULE
@FILE
@click.option(
    "--sample", type=click.Path(path_type=Path), required=True, metavar="CSV",
    help="Columns item, given (by the rule) and audited (by you); at least 30 items.",
)  # fmt: skip
@click.option("--author", required=True, metavar="NAME", help="Who wrote the rule; somebody else audits it.")
@KEY
@PASSPHRASE
@CONFIG
@AS_JSON
def audit(
    rule_id: str, rule: Path, sample: Path, author: str, key_path: Path, passphrase_file: Path | None,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Count the errors of RULE, as FILE holds it, on an audited sample; sign and record them."""
    from governance_pipeline.framework.classification_rules import audit_rule

    ledger, root = opened_ledger(config_path)
    done = audit_rule(ledger, root, rule_id, rule, sample, author, signer_of(key_path, passphrase_file), clock())
    _answer([done], as_json=as_json)


@classification.command("list", epilog="Example: govern classification list --json")
@CONFIG
@AS_JSON
def list_rules(config_path: Path | None, as_json: bool) -> None:
    """List every audit that counts, with its error rate and interval."""
    from governance_pipeline.framework.classification_rules import audits

    _answer(audits(*opened_ledger(config_path), clock()), as_json=as_json)


@classification.command(epilog="Example: govern classification check bus-types catalogue.json")
@RULE
@FILE
@CONFIG
@AS_JSON
def check(rule_id: str, rule: Path, config_path: Path | None, as_json: bool) -> None:
    """Refuse RULE, as FILE holds it, unless an audit of it counts under the baseline in force."""
    from governance_pipeline.framework.classification_rules import require_validated

    _answer([require_validated(*opened_ledger(config_path), rule_id, rule, clock())], as_json=as_json)


def _answer(found: list[RuleAudit], *, as_json: bool) -> None:
    from governance_pipeline.trust.instants import instant_text

    entries: list[dict[str, Any]] = [
        {**audit._asdict(), "auditors": list(audit.auditors), "at": instant_text(audit.at)} for audit in found
    ]
    lines = [
        f"{each['rule_id']}: {each['errors']} of {each['sample_size']} wrong, {each['error_rate']} "
        f"[{each['error_low']}, {each['error_high']}], audited by {', '.join(each['auditors'])}"
        f"{', stale: an older baseline' if each['is_stale'] else ''}"
        for each in entries
    ]
    answer({"schema": SCHEMA, "rules": entries}, lines or ["none"], as_json=as_json)
