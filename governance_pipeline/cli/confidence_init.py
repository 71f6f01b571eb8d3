"""`govern confidence init|register`: the place of the events, and who and what is known in it.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from governance_pipeline.cli.confidence_options import FOLDER, open_store, say
from governance_pipeline.cli.signing import AS_JSON
from governance_pipeline.confidence.terms import Domain, Role, Severity


@click.command(epilog="Example: govern confidence init --agent ada --runtime claude-code/opus-4-6/high --user kim")
@click.option("--agent", metavar="ID", required=True, help="The agent that will be judged.")
@click.option("--runtime", metavar="P/M/T", required=True, help="Its runtime: platform/model/thinking.")
@click.option("--user", metavar="ID", required=True, help="The user it works with.")
@click.option("--team", metavar="ID", help="Name of their team; default: AGENT.USER.")
@click.option("--prompt", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="System prompt of the agent: sets the parameters it states, such as `precision: 80 %`.")  # fmt: skip
@FOLDER
@AS_JSON
def init(
    agent: str, runtime: str, user: str, team: str | None, prompt: Path | None, folder: Path, as_json: bool
) -> None:
    """Make the place of the events, and register the pool, one agent, one user and their team.

    Every domain starts at 50 and in warm-up. Running it again adds what is new. A prompt is read by rule, not
    understood: parameters it does not state in a line of their own stay unknown.
    """
    from governance_pipeline.confidence.params import params_in_prompt, read_prompt, store_params
    from governance_pipeline.confidence.store import FILE, EventStore

    stated = params_in_prompt(read_prompt(prompt)) if prompt else {}
    store = open_store(folder) if (folder / FILE).exists() else EventStore.create(folder)
    team_id = team or f"{agent}.{user}"
    store.register(
        {
            "pools": [runtime],
            "subjects": [
                {"role": Role.AGENT.value, "subject_id": agent},
                {"role": Role.USER.value, "subject_id": user},
            ],
            "teams": [{"team_id": team_id, "agent_id": agent, "user_id": user}],
        }
    )
    lines = [f"{folder}: agent {agent} in {runtime}, user {user}, team {team_id}"]
    if prompt:
        store_params(folder, Role.AGENT, agent, stated)
        lines.append(f"parameters the prompt states: {', '.join(f'{n} {v} %' for n, v in stated.items()) or 'none'}")
    _registered(folder, lines, as_json=as_json)


@click.group(epilog="Example: govern confidence register pool codex/gpt-6/high")
def register() -> None:
    """Add a pool, a subject, a team or a pattern; nothing registered is ever changed."""


@register.command("pool", epilog="Example: govern confidence register pool codex/gpt-6/high")
@click.argument("runtime", metavar="P/M/T")
@FOLDER
@AS_JSON
def add_pool(runtime: str, folder: Path, as_json: bool) -> None:
    """Add a runtime: platform/model/thinking."""
    _add(folder, {"pools": [runtime]}, f"pool {runtime}", as_json=as_json)


@register.command("subject", epilog="Example: govern confidence register subject agent bob --weight TECH=2")
@click.argument("role", type=click.Choice([one.value for one in Role]))
@click.argument("subject_id", metavar="ID")
@click.option("--weight", "weights", multiple=True, metavar="DOMAIN=N", help="Weight of a domain; default 1.")
@FOLDER
@AS_JSON
def add_subject(role: str, subject_id: str, weights: tuple[str, ...], folder: Path, as_json: bool) -> None:
    """Add an agent or a user, with the weights of its global score."""
    entry: dict[str, Any] = {"role": str(role), "subject_id": subject_id}
    if weights:
        entry["weights"] = _weights(weights)
    _add(folder, {"subjects": [entry]}, f"{role} {subject_id}", as_json=as_json)


@register.command("team", epilog="Example: govern confidence register team core --agent ada --user kim")
@click.argument("team_id", metavar="ID")
@click.option("--agent", required=True, metavar="ID", help="Its agent.")
@click.option("--user", required=True, metavar="ID", help="Its user.")
@FOLDER
@AS_JSON
def add_team(team_id: str, agent: str, user: str, folder: Path, as_json: bool) -> None:
    """Add a team of one agent and one user."""
    entry = {"team_id": team_id, "agent_id": agent, "user_id": user}
    _add(folder, {"teams": [entry]}, f"team {team_id}", as_json=as_json)


@register.command("pattern", epilog="Example: govern confidence register pattern SLOW_TESTS --role agent --kind anti")
@click.argument("code", metavar="CODE")
@click.option("--role", type=click.Choice([one.value for one in Role]), required=True, help="Whose behaviour it is.")
@click.option("--kind", type=click.Choice(["anti", "pro"]), required=True, help="Error or gain.")
@click.option("--domain", type=click.Choice([one.value for one in Domain]), help="Domain it fixes; default: none.")
@click.option("--severity", type=click.Choice([one.value for one in Severity]), help="Severity an anti pattern fixes.")
@FOLDER
@AS_JSON
def add_pattern(
    code: str, role: str, kind: str, domain: str | None, severity: str | None, folder: Path, as_json: bool
) -> None:
    """Add a pattern of your own; a shipped one is never redefined."""
    entry = {"pattern_code": code, "role": role, "kind": kind, "domain": domain, "severity": severity}
    known = {name: str(value) for name, value in entry.items() if value is not None}
    _add(folder, {"patterns": [known]}, f"pattern {code}", as_json=as_json)


def _add(folder: Path, entry: dict[str, Any], what: str, *, as_json: bool) -> None:
    is_new = open_store(folder).register(entry)
    _registered(folder, [f"{what}: {'registered' if is_new else 'was registered before'}"], as_json=as_json)


def _registered(folder: Path, lines: list[str], *, as_json: bool) -> None:
    registry = open_store(folder).standing().registry
    document = {
        "schema": "govern/confidence-registered/v1",
        "pools": sorted(registry.pools),
        "subjects": [{"role": role.value, "subject_id": name} for role, name in sorted(registry.weights)],
        "teams": [team._asdict() for _, team in sorted(registry.teams.items())],
    }
    say(document, lines, as_json=as_json)


def _weights(given: tuple[str, ...]) -> dict[str, Any]:
    from governance_pipeline.confidence.plain_numbers import as_written
    from governance_pipeline.strict.numbers import is_number

    weights: dict[str, Any] = {}
    for text in given:
        domain, sign, number = text.partition("=")
        if not sign or not is_number(number) or (value := as_written(number)) is None:
            raise click.UsageError(f"{text!r} is no weight; write DOMAIN=N, such as TECH=2")
        weights[domain] = value
    return weights
