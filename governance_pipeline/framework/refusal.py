"""The no of a gate of the governed folder: an error that carries a stable reason code.

What belongs here: the one exception of this package. What does not: the codes, which stand where the rule is, and the
refusals of a signed decision, which are `trust.reasons.Refusal`.
"""

from __future__ import annotations

from governance_pipeline.errors import GateRefused


class FrameworkRefused(GateRefused):
    """A critical write or a long process is refused; `code` never changes its meaning.

    The message says what, where and what to do, after the code.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = str(code)
        super().__init__(f"{code}: {message}")
