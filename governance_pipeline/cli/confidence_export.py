"""`govern confidence export|params`: the files agents read, and the nine parameters.

What belongs here: arguments, writing what was asked for, and printing. What does not: content; it is in `confidence`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_options import (
    AGENT,
    FOLDER,
    LANG,
    USER,
    open_store,
    rated_of,
    say,
    with_options,
)
from governance_pipeline.cli.signing import AS_JSON

if TYPE_CHECKING:
    from governance_pipeline.confidence.terms import Role


@click.command(epilog="Example: govern confidence export .agent/confidence")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@FOLDER
@AS_JSON
def export(directory: Path, folder: Path, as_json: bool) -> None:
    """Write the views agents read: scores, log, gains, pools, users, and one file for each agent.

    They are views: nothing reads them back, and notes and contexts are not in them.
    """
    import hashlib

    from governance_pipeline.confidence.exported_views import exported_views
    from governance_pipeline.confidence.hub.hub_document import hub_sync_document
    from governance_pipeline.confidence.hub.hub_file import HubPlace
    from governance_pipeline.confidence.params import stored_params
    from governance_pipeline.storage.atomic import AtomicWriter

    store = open_store(folder)
    found, today = store.standing(), datetime.now().astimezone().date().toordinal()
    params = stored_params(folder)["agent"]
    hub_sync = hub_sync_document(HubPlace(folder))
    views = exported_views(found.folded.state, found.registry, store.lines(), today, hub_sync, params)
    writer = AtomicWriter(directory)
    for view in views:
        writer.write(directory / view.path, view.data)
    files = [{"path": view.path, "sha256": hashlib.sha256(view.data).hexdigest()} for view in views]
    document = {"schema": "govern/confidence-export/v1", "files": files}
    say(document, [str(directory / view.path) for view in views], as_json=as_json)


@click.command(epilog="Example: govern confidence params --agent ada --set precision=80")
@click.option("--set", "given", multiple=True, metavar="NAME=N", help="Set a parameter, 0 to 100; may be repeated.")
@click.option(
    "--prompt",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Set what this system prompt states: lines such as `precision: 80 %`.",
)
@with_options(AGENT, USER, FOLDER, LANG, AS_JSON)
def params(
    given: tuple[str, ...],
    prompt: Path | None,
    agent: str | None,
    user: str | None,
    folder: Path,
    lang: str,
    as_json: bool,
) -> None:
    """Show or set the nine parameters of an agent or a user; they change no score.

    Without --agent or --user: what each means. A prompt is read by rule, not understood; what it does not state in a
    line of its own stays unknown.
    """
    from governance_pipeline.confidence.params import params_in_prompt, read_prompt, store_params, stored_params

    rated = rated_of(agent, user, None)
    values = {**(params_in_prompt(read_prompt(prompt)) if prompt else {}), **_numbers(given)}
    if rated.role is None or rated.subject_id is None:
        if given or prompt:
            raise click.UsageError("whose parameters? Name --agent or --user")
        _show(None, None, {}, lang, as_json=as_json)
        return
    _require_known(folder, rated.role, rated.subject_id)
    if values:
        mine = store_params(folder, rated.role, rated.subject_id, values)
    else:
        mine = stored_params(folder)[rated.role.value].get(rated.subject_id, {})
    _show(rated.role, rated.subject_id, mine, lang, as_json=as_json)


def _show(role: Role | None, subject_id: str | None, mine: dict[str, int], lang: str, *, as_json: bool) -> None:
    from governance_pipeline.confidence.params import parameters, range_of
    from governance_pipeline.confidence.terms import Role

    rows: list[dict[str, Any]] = []
    for one in parameters():
        value = mine.get(one.name)
        within = None if value is None else range_of(value)
        meaning = {side.value: one.texts[side.value][lang] for side in Role if role in (None, side)}
        contract = None if within is None else one.texts[within][lang]
        rows.append({"name": one.name, "kind": one.kind, "value": value, "range": within, "meaning": meaning,
                     "contract": contract})  # fmt: skip
    document = {"schema": "govern/confidence-params/v1", "role": role and role.value, "subject_id": subject_id,
                "parameters": rows}  # fmt: skip
    say(document, [_line(row) for row in rows], as_json=as_json)


def _line(row: dict[str, Any]) -> str:
    value = "-" if row["value"] is None else f"{row['value']} %"
    said = row["contract"] or " / ".join(row["meaning"].values())
    return f"{row['name']:<13}{value:>6}  {said}"


def _require_known(folder: Path, role: Role, subject_id: str) -> None:
    from governance_pipeline.errors import UsageError

    if (role, subject_id) not in open_store(folder).standing().registry.weights:
        raise UsageError(f"{role.value} {subject_id} is not registered; `govern confidence register subject` does it")


def _numbers(given: tuple[str, ...]) -> dict[str, int]:
    values = {}
    for text in given:
        name, sign, number = text.partition("=")
        if not sign or not number.isascii() or not number.isdigit():
            raise click.UsageError(f"{text!r} is no parameter; write NAME=N, such as precision=80")
        values[name] = int(number)
    return values
