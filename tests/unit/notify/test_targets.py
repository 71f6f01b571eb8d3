"""Who is told is in one file of the owner's alone, named by the gate's configuration; nothing of it is ever shown."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.notify.targets import NoticeKind, load_notifications
from governance_pipeline.trust.config import load_config, replace_config


def test_without_a_file_nobody_is_told():
    assert load_notifications(None).targets == ()


def test_a_target_is_told_of_everything_unless_it_says_otherwise(office):
    [target] = office.wanted.targets
    assert (target.name, target.scheme, target.kinds) == ("ops", "json", frozenset(NoticeKind))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_others_may_open_is_refused(office, mode):
    office.file.chmod(mode)
    with pytest.raises(UsageError, match="by others"):
        office.wanted  # noqa: B018


@pytest.mark.parametrize(
    "text",
    [
        "",
        'schema = "govern/notifications/v1"',
        'schema = "other"\n[[target]]\nname = "a"\nurl = "json://topsecret"',
        'schema = "govern/notifications/v1"\n[[target]]\nname = "A b"\nurl = "json://topsecret"',
        'schema = "govern/notifications/v1"\n[[target]]\nname = "a"\nurl = "topsecret"',
        'schema = "govern/notifications/v1"\n[[target]]\nname = "a"\nurl = "json://topsecret"\nkinds = ["all"]',
        'schema = "govern/notifications/v1"\n[[target]]\nname = "a"\nurl = "json://topsecret"\npassword = "topsecret"',
        'schema = "govern/notifications/v1"\nreminder_hours = 0\n[[target]]\nname = "a"\nurl = "json://topsecret"',
        'schema = "govern/notifications/v1"\n' + '[[target]]\nname = "a"\nurl = "json://topsecret"\n' * 2,
        'url = json://topsecret"',
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_a_word_of_what_it_holds(office, text):
    office.file.write_text(text)
    with pytest.raises(UsageError) as error:
        office.wanted  # noqa: B018
    assert "topsecret" not in str(error.value)


def test_another_file_in_the_environment_is_not_looked_for(office, monkeypatch, tmp_path):
    for name in ("GOVERN_NOTIFICATIONS", "APPRISE_CONFIG", "APPRISE_URLS", "APPRISE_CONFIG_PATH"):
        monkeypatch.setenv(name, str(tmp_path / "other"))
    assert [target.name for target in office.wanted.targets] == ["ops"]


def test_the_configuration_keeps_the_file_when_it_is_written_anew(office):
    old = load_config(office.world.config_path)
    replace_config(old, old)
    assert load_config(office.world.config_path).notifications == office.file
