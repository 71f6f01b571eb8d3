"""One simulation of tau2-bench: a run with its calls, its costs and its reward.

What belongs here: one entry of `simulations[]`. What does not: the file it stands in (tau2_bench) and what a
submission makes of it (tau2_submission).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.trial_steps import steps_of
from governance_pipeline.ingest.formats.usage import UsageReport, chat_completion_tokens
from governance_pipeline.ingest.formats.values import entries, members, text, unpriced
from governance_pipeline.strict.numbers import exact_number
from governance_pipeline.vocabulary import DataType, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import Run

    Members = Mapping[str, Any]

AGENT_COST: Final = Field("agent_cost", DataType.CURRENCY, "USD")
USER_COST: Final = Field("user_cost", DataType.CURRENCY, "USD")
REWARD: Final = Field("reward", DataType.FLOAT, "reward")
DURATION: Final = Field("duration", DataType.FLOAT, "s")
COSTS: Final[Mapping[str, tuple[Field, str]]] = {
    "assistant": (AGENT_COST, "agent_messages"),
    "user": (USER_COST, "user_messages"),
}
"""Role -> the total its messages add up to, and the component source they become."""


def write_simulation(out: Extraction, format_name: str, run: Run, info: Members, simulation: Members) -> None:
    """Add the run, its steps, what it declares and the parts of it."""
    agent, user = members(info.get("agent_info")), members(info.get("user_info"))
    run.agent_id = text(agent.get("implementation"))
    run.thinking = text(members(agent.get("llm_args")).get("reasoning_effort"))
    run.exit_status = text(simulation.get("termination_reason"))
    run.used(text(agent.get("llm")))
    agents = {"assistant": run.agent_id, "user": text(user.get("implementation"))}
    run.steps = steps_of(run.place.below("/messages"), entries(simulation.get("messages")), agents)
    run.write(out)
    subject = Subject(out, format_name, run.run_id, [run.place.file.path])
    _declare(subject, run.place, simulation)
    _add_parts(subject, run.place, simulation)
    _add_reviews(out, run, members(simulation.get("reward_info")))


def usage_of(run: Run, info: Members, simulation: Members) -> Iterator[UsageReport]:
    """Give one report per message of agent or user that a model wrote; the user of a simulation is one too."""
    models = {
        "assistant": text(members(info.get("agent_info")).get("llm")),
        "user": text(members(info.get("user_info")).get("llm")),
    }
    for index, message in enumerate(map(members, entries(simulation.get("messages")))):
        role = text(message.get("role")) or ""
        if role not in models or not isinstance(message.get("usage"), dict):
            continue
        yield UsageReport(
            run.place.below(f"/messages/{index}/usage"),
            run.run_id,
            chat_completion_tokens(message["usage"]),
            model=models[role],
            is_cache_inside_input=True,
            cost=message.get("cost"),
        )


def is_success(simulation: Members) -> bool | None:
    """Tell whether a simulation counts as passed: reward 1 within 1e-6 (tau2/metrics/agent_metrics.py).

    None when it has no reward: it was never judged.
    """
    reward = number(members(simulation.get("reward_info")).get("reward"))
    return None if reward is None else abs(reward - 1) * 1_000_000 <= 1


def cost_of(simulation: Members) -> Any:
    """Give the agent's cost as written; None where 0 was written although a model was used: nobody knew the price."""
    cost = simulation.get(AGENT_COST.name)
    return unpriced(cost) if any(_is_call(message) for message in entries(simulation.get("messages"))) else cost


def number(value: Any) -> Decimal | None:
    """Give the exact value of a JSON number; None for anything else."""
    return exact_number(str(value)) if value_kind(value) is ValueKind.NUMBER else None


def _is_call(message: Any) -> bool:
    """Tell whether a model was asked for this message; the agent's greeting is a fixed text and costs nothing."""
    return chat_completion_tokens(members(message).get("usage")).is_measured


def _declare(subject: Subject, place: Place, simulation: Members) -> None:
    for field, _ in COSTS.values():
        if field.name in simulation:
            subject.declare(place.below(f"/{field.name}"), field, simulation[field.name])
    reward = members(simulation.get("reward_info"))
    if "reward" in reward:
        subject.declare(place.below("/reward_info/reward"), REWARD, reward["reward"])
    if "duration" in simulation:
        subject.declare(place.below("/duration"), DURATION, simulation["duration"])


def _add_parts(subject: Subject, place: Place, simulation: Members) -> None:
    counts = dict.fromkeys(COSTS, 0)
    for index, message in enumerate(map(members, entries(simulation.get("messages")))):
        role = text(message.get("role")) or ""
        if role not in COSTS:
            continue
        counts[role] += 1
        cost = unpriced(message.get("cost")) if _is_call(message) else message.get("cost")
        subject.component(COSTS[role][1], counts[role], {"cost": (place.below(f"/messages/{index}/cost"), cost)})
    breakdown = members(members(simulation.get("reward_info")).get("reward_breakdown"))
    where = place.below("/reward_info/reward_breakdown")
    for row, value in enumerate(breakdown.values(), 1):
        # 0 and 1 only: then the product is the smallest factor, and a formula has no product over rows
        factor = value if number(value) in (0, 1) else None
        subject.component("reward_breakdown", row, {"factor": (where, factor)})


def _add_reviews(out: Extraction, run: Run, reward: Members) -> None:
    """Add what a judging model said of each sentence it had to judge, and the reward as the verdict of the rules."""
    if value_kind(reward.get("reward")) is ValueKind.NUMBER:
        place = run.place.below("/reward_info/reward")
        result = value_raw(reward["reward"])
        place.add(out, "core_approvals", run_id=run.run_id, kind="review", by="rule", result=result)
    for index, judged in enumerate(map(members, entries(reward.get("nl_assertions")))):
        if isinstance(judged.get("met"), bool):
            run.place.below(f"/reward_info/nl_assertions/{index}").add(
                out,
                "core_approvals",
                run_id=run.run_id,
                kind="review",
                by="model",
                result=f"met: {value_raw(judged['met'])}",
                reason=text(judged.get("justification")),
            )
