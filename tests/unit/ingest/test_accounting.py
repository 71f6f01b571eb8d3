"""A table never gets a row whose counts do not add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.ingest.accounting import read_file_row
from governance_pipeline.ingest.logfile import LogFile, Sample


@pytest.mark.parametrize("part", ["accepted", "quarantined", "blank", "duplicates", "lines_in"])
def test_an_account_that_does_not_balance_is_an_error_of_ours_and_stores_nothing(part):
    file = LogFile("logs/x", "0" * 64, 1, Sample("logs/x", "jsonl", ()), Path("unused"))
    setattr(file.account, part, 1)
    with pytest.raises(RuntimeError, match="the account of logs/x does not balance"):
        read_file_row(file, "native")
