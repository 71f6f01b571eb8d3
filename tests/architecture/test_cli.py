"""Every command of `govern` keeps the conventions: an example, help on every option, a JSON form."""

from __future__ import annotations

import click
import pytest

from governance_pipeline.cli.main import govern


def _commands(command, names=()):
    yield " ".join(("govern", *names)), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), (*names, name))


COMMANDS = dict(_commands(govern))
VERBS = [name for name, command in COMMANDS.items() if not isinstance(command, click.Group)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_a_command_does_and_gives_an_example_of_it(name):
    command = COMMANDS[name]
    shown = " ".join(command.get_help(click.Context(command, info_name=name)).split())
    assert f"Example: {name} " in shown
    assert command.get_short_help_str()


@pytest.mark.parametrize("name", VERBS)
def test_every_option_of_a_command_has_a_help_text(name):
    options = [option for option in COMMANDS[name].params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", VERBS)
def test_every_command_answers_as_json_too(name):
    options = {spelling: option for option in COMMANDS[name].params for spelling in option.opts}
    form = options.get("--format")
    assert "--json" in options or "json" in getattr(form.type, "choices", ())


@pytest.mark.parametrize("name", VERBS)
def test_one_variable_names_the_lake_and_the_landing_folder_for_every_command(name):
    wanted = {"lake": "GOVERN_LAKE", "landing": "GOVERN_LANDING"}
    found = {option.name: option.envvar for option in COMMANDS[name].params if option.name in wanted}
    assert found == {name: wanted[name] for name in found}
