"""Facts of a change, short."""

import pytest

from governance_pipeline.ingest.change_facts.facts import facts


@pytest.fixture
def told():
    """Facts of a change without those that only say that a file parses: (kind, subject) or the facts themselves."""

    def tell(before, after, path, before_path=None, *, whole=False):
        contents = [None if text is None else text.encode() for text in (before, after)]
        found = [fact for fact in facts(*contents, path, before_path) if fact.kind != "parsed"]
        return found if whole else [(str(fact.kind), fact.subject) for fact in found]

    return tell
