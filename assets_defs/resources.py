"""What an asset works with: where rounds arrive and tables are kept, and what the gate trusts.

Plain objects, never a `ConfigurableResource`: the launchpad can override the fields of one. Folders come from the
environment, read when a run or tick first needs them. What the gate trusts never does: it is in the file `build_defs`
was given or in the configuration of the account, and in no variable, working directory or run configuration.
"""

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from governance_pipeline.believed import believed
from governance_pipeline.errors import GovernError
from governance_pipeline.framework.reprocessing import Keeper
from governance_pipeline.gate.passage import Verifier, open_verifier
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.pipeline import Trust
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trust import config as account
from governance_pipeline.trust.config import GateConfig, load_config
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.workspace import Workspace

PROJECT_ROOT = Path(__file__).parents[1]
LANDING_VARIABLE, LANDING_DEFAULT = "GOVERN_LANDING", "data/rounds"
LAKE_VARIABLE, LAKE_DEFAULT = "GOVERN_LAKE", "lake"

_LOGGER = logging.getLogger(__name__)


class Gatekeeper:
    """Finds what the gate trusts, each time it is asked.

    Args:
        config: the configuration to use; None means that of the account.
        clock: gives the time, with its zone.
    """

    def __init__(self, config: Path | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.named = config
        self.now = clock

    @property
    def place(self) -> Path:
        """Where the configuration is looked for."""
        return account.default_config_path() if self.named is None else self.named

    def is_configured(self) -> bool:
        """Tell whether there is something at that place, usable or not."""
        return self.place.exists() or self.place.is_symlink()

    def config(self) -> GateConfig:
        """Read the configuration.

        Raises:
            Refusal: MISSING, there is none; says how to make one.
            GovernError: what is there cannot be used.
        """
        if not self.is_configured():
            message = f"no gate is configured ({self.place}), so nobody can decide; make one with `govern trust init`"
            raise Refusal(ReasonCode.MISSING, message)
        return load_config(self.place)

    def verifier(self, lake: Lake) -> Verifier:
        """Read everything the configuration names; raises as `config`, and when root, policy or ledger are refused."""
        config = self.config()
        return open_verifier(config, Ledger(config.ledger), lake, self.now())

    def verifier_if_configured(self, lake: Lake) -> Verifier | None:
        """Do as `verifier`; None where no gate is configured."""
        return self.verifier(lake) if self.is_configured() else None

    def trust(self) -> Trust:
        """Give whom the tables may believe; nobody where no gate is configured.

        Raises:
            GovernError: a gate is configured and its root cannot be used.
        """
        if not self.is_configured():
            return Trust()
        return believed(self.config(), self.now())


def landing_folder() -> Path:
    """Return the landing folder; a relative path is taken from the project root, wherever the process runs."""
    return PROJECT_ROOT / os.environ.get(LANDING_VARIABLE, LANDING_DEFAULT)


def lake_folder() -> Path:
    """Return the root of the lake; a relative path is taken from the project root."""
    return PROJECT_ROOT / os.environ.get(LAKE_VARIABLE, LAKE_DEFAULT)


def open_workspace(keeper: Gatekeeper, warn: Callable[[str], None]) -> Workspace:
    """Open the workspace the environment names, believing the root the gatekeeper finds.

    A root that cannot be used is warned of and not believed: signatures are then undecided, which every gate takes for
    a no, and all that needs no signature goes on.
    """
    try:
        trust = keeper.trust()
    except GovernError as error:
        warn(f"validators cannot be judged, the trust root is not usable: {error}")
        trust = Trust()
    return Workspace(landing_folder(), lake_folder(), trust, Keeper(keeper.verifier_if_configured, keeper.now))


@dg.resource(
    required_resource_keys={"gate"},
    description=f"Landing folder and lake, from {LANDING_VARIABLE} and {LAKE_VARIABLE}; takes no run configuration.",
)
def workspace(context: dg.InitResourceContext) -> Workspace:
    """Open the workspace for a run or tick."""
    log = context.log or _LOGGER
    return open_workspace(context.resources.gate, log.warning)


gate = dg.ResourceDefinition(
    resource_fn=lambda _: Gatekeeper(),
    description="What the gate trusts, by the configuration of this account; takes no run configuration.",
)
