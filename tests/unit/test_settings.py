"""Each threshold says its unit, why it has its value, and where that comes from; none can be changed in place."""

from __future__ import annotations

import dataclasses

import pytest

from governance_pipeline.settings import SETTINGS, Settings


@pytest.mark.parametrize("field", dataclasses.fields(Settings), ids=lambda field: field.name)
def test_every_threshold_has_unit_reason_and_source(field):
    assert set(field.metadata) == {"unit", "reason", "source"}
    assert all(isinstance(text, str) and text.strip() for text in field.metadata.values())


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SETTINGS.large_table_rows = 1


def test_other_settings_are_made_by_name_and_leave_the_shipped_ones_alone():
    assert Settings(large_table_rows=1).large_table_rows == 1
    assert Settings() == SETTINGS
    with pytest.raises(TypeError):
        Settings(1)
