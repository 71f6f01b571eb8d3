"""W8: ten million confidence events of 10,000 (agent, domain) folded, beside a plain Python loop and DuckDB.

Usage: python bench/confidence.py [--small] [--store]

Ours is `confidence.bulk.fold_columns`: the whole fold, with refusals, streaks, warm-up, day caps, limits, the numbers
of every day, divergence and recovery. The loop is a short one that gives the same numbers for these kinds of event:
whole thousandths, rows ready, state in lists and dicts. The rival is the best set-based one of the research page:
DuckDB, windows for streak and warm-up, then `list_reduce`; it gives scores and streaks only. Sides answer with digests
of scores and streaks, and of evaluations, days, recovery and alerts; all must be the same. One long group, the second
workload, is the shape that undoes walking groups in step. `taken up` folds nine tenths, writes the state as text, reads
it, and appends the rest; like DuckDB it gets a tenth of the events. `--store` measures a store of a million events
instead: `status`, and a late event.
Source of workload and goals: research/performance.md W8.
"""

from __future__ import annotations

import sys

from sides import Side, judge, run_in_turn

DATA = """
import hashlib, sys
import numpy as np
EVENTS, TRACKS, DAYS = (int(text) for text in sys.argv[1:4])
random = np.random.default_rng(20260101)
track = random.integers(0, TRACKS, EVENTS, dtype=np.int32)
domain = random.integers(0, 5, EVENTS).astype(np.int8) if TRACKS > 1 else np.zeros(EVENTS, dtype=np.int8)
kind = random.choice(np.array([0, 1, 2, 5, 6], dtype=np.int8), EVENTS, p=[0.7, 0.2, 0.04, 0.02, 0.04])
day = (738000 + np.sort(random.integers(0, DAYS, EVENTS))).astype(np.int32)
cost = random.choice(np.array([-1000, -3000, -5000, -10000], dtype=np.int32), EVENTS, p=[0.5, 0.3, 0.15, 0.05])
amount = np.where(kind == 1, cost, np.where(kind == 2, 3000, 0)).astype(np.int32)
def told(*numbers):
    digest = hashlib.sha256()
    for each in numbers:
        digest.update(np.asarray(each, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]
"""
COLUMNS = (
    DATA
    + """
from governance_pipeline.confidence.bulk.columns import Columns
from governance_pipeline.confidence.bulk.folding import fold_columns
from governance_pipeline.confidence.state import State, TrackKey
from governance_pipeline.confidence.terms import Role
keys = [TrackKey(Role.AGENT, f"a{n}", "a/b/c") for n in range(TRACKS)]
def columns(part):
    size = part.stop - part.start
    none, no = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.bool_)
    return Columns(keys, [key[:2] for key in keys], (), (), (), (), np.arange(TRACKS, dtype=np.int32), track[part],
                   domain[part], kind[part], day[part], amount[part], none, none, none, no, no, none, no, none, {},
                   lambda place: f"e{part.start + place}")
def last(folding):
    scores, streaks = np.full(TRACKS * 5, 50000), np.zeros(TRACKS * 5, dtype=np.int64)
    counted, above = np.zeros(TRACKS * 5, dtype=np.int64), np.full(TRACKS * 5, -1)
    for block in folding.blocks:
        at, recovered = block.groups, block.recovered
        scores[at], streaks[at], counted[at] = block.score, block.streak, block.evaluations
        above[at] = np.where(recovered.is_in_recovery, recovered.days_above, -1)
    days = [np.concatenate(part) for part in zip(*((block.day_group, block.day, block.day_net, block.diverged.penalties,
            block.day_score, block.diverged.has_diverged) for block in folding.blocks))]
    alerts = np.bincount(folding.alerts.kind, minlength=3)
    return [told(scores, streaks), told(counted, above, *days, alerts)]
"""
)
OURS = COLUMNS + "timed(lambda: last(fold_columns(columns(slice(0, EVENTS)))))\n"
TAKEN_UP = (
    COLUMNS
    + """
from governance_pipeline.confidence.bulk.into_state import write_state
from governance_pipeline.confidence.state_text import read_state, state_text
def work():
    cut, text, alerts = EVENTS * 9 // 10, state_text(State()), np.zeros(3, dtype=np.int64)
    for part in (slice(0, cut), slice(cut, EVENTS)):
        state, some = read_state(text), columns(part)
        folding = fold_columns(some, state)
        alerts += np.bincount(folding.alerts.kind, minlength=3)
        write_state(some, folding, state, None)
        text = state_text(state)
    domains = [own for key in keys for own in state.tracks[key].domains.values()]
    days = [(group, day, one.net, one.penalties, one.score, one.has_diverged)
            for group, own in enumerate(domains) for day, one in sorted(own.days.items())]
    above = [own.days_above if own.is_in_recovery else -1 for own in domains]
    first = told([own.score for own in domains], [own.streak for own in domains])
    return [first, told([own.evaluations for own in domains], above, *zip(*days), alerts)]
timed(work)
"""
)
LOOP = (
    DATA
    + """
from governance_pipeline.confidence.deltas import streak_gain
GAIN = [streak_gain(n) for n in range(11)]
rows = [column.tolist() for column in (track, domain, kind, day, amount)]
def work():
    groups = TRACKS * 5
    scores, streaks, counted, days = [50000] * groups, [0] * groups, [0] * groups, [{} for _ in range(groups)]
    total, warm, current, recovery, alerts = [0] * TRACKS, [True] * TRACKS, [0] * TRACKS, [-1] * groups, [0, 0, 0]
    for of_track, of_domain, what, on, delta in zip(*rows):
        at = of_track * 5 + of_domain
        now = current[of_track]
        if on > now:
            if now:
                for group in range(of_track * 5, of_track * 5 + 5):
                    above = recovery[group]
                    if above >= 0:
                        above = 0 if scores[group] <= 35000 else above + on - now
                        if above >= 3:
                            above = -1
                            alerts[2] += 1
                        recovery[group] = above
            current[of_track] = on
        own = days[at]
        today = own.get(on)
        if today is None:
            today = own[on] = [0, 0, 0, 0]
        score = scores[at]
        if what == 0:
            streak = streaks[at]
            delta = GAIN[streak] if streak < 10 else 0
            streaks[at] = streak + 1
        elif what == 1:
            streaks[at] = 0
        is_warm = warm[of_track]
        half = 1 if what == 6 else 2
        counted[at] += half
        if is_warm:
            total[of_track] += half
            if total[of_track] >= 80 and min(counted[of_track * 5:of_track * 5 + 5]) >= 12:
                warm[of_track] = False
        if delta:
            net = today[0]
            if delta < 0:
                room = (-30000 if is_warm else -20000) - net
                if delta < room:
                    delta = room if room < 0 else 0
            else:
                room = (15000 if is_warm else 10000) - net
                if delta > room:
                    delta = room if room > 0 else 0
            new = score + delta
            new = -100000 if new < -100000 else 100000 if new > 100000 else new
            today[0] = net + new - score
            if new < score:
                today[1] += score - new
            score = scores[at] = new
        today[2] = score
        if not today[3] and today[1] > 0 and 2 * today[1] > score:
            today[3] = 1
            alerts[0] += 1
        if score < 20000 and recovery[at] < 0:
            recovery[at] = 0
            alerts[1] += 1
    every = [(group, day, *one) for group, own in enumerate(days) for day, one in own.items()]
    return [told(scores, streaks), told(counted, recovery, *zip(*every), alerts)]
timed(work)
"""
)
DUCKDB = (
    DATA
    + """
import duckdb, pyarrow as pa
place = np.arange(EVENTS)
table = pa.table({"place": place, "track": track, "domain": domain, "kind": kind, "day": day, "amount": amount})
QUERY = '''
with counted as (
    select *, case when kind = 6 then 1 else 2 end as half,
        sum(case when kind = 1 then 1 else 0 end) over (partition by track, domain order by place
            rows between unbounded preceding and 1 preceding) as resets
    from events
), streaks as (
    select *, sum(half) over (partition by track order by place) - half as total,
        sum(half) over (partition by track, domain order by place) as own,
        sum(case when kind = 0 then 1 else 0 end) over (partition by track, domain, coalesce(resets, 0)
            order by place) - (case when kind = 0 then 1 else 0 end) as streak
    from counted
), ends as (
    select track, case when count(*) = 5 then max(place) end as until from (
        select track, domain, min(place) as place from streaks where own >= 12 group by track, domain
    ) group by track
), enough as (
    select track, min(place) as place from streaks where total + half >= 80 group by track
), worth as (
    select s.track, domain, s.place, day, kind, streak,
        case when kind = 0 then [0, 0, 0, 1000, 1000, 2000, 2000, 2000, 2000, 2000, 0][least(streak, 10)::bigint + 1]
            else amount end as delta,
        until is null or e.place is null or s.place <= greatest(until, e.place) as warm
    from streaks s left join ends using (track) left join enough e using (track)
), lists as (
    select track, domain,
        list({'score': delta::bigint, 'net': warm::bigint, 'day': day::bigint} order by place) as events,
        arg_max(case when kind = 1 then 0 when kind = 0 then streak + 1 else streak end, place) as streak
    from worth group by track, domain
)
select track, domain, streak, list_reduce(events, lambda s, e: {
    'score': least(100000, greatest(-100000, s.score + greatest(least(e.score,
        greatest(0, (case when e.net = 1 then 15000 else 10000 end) - (case when s.day = e.day then s.net else 0 end))),
        least(0, (case when e.net = 1 then -30000 else -20000 end)
            - (case when s.day = e.day then s.net else 0 end))))),
    'net': (case when s.day = e.day then s.net else 0 end) + least(100000, greatest(-100000, s.score
        + greatest(least(e.score,
        greatest(0, (case when e.net = 1 then 15000 else 10000 end) - (case when s.day = e.day then s.net else 0 end))),
        least(0, (case when e.net = 1 then -30000 else -20000 end)
            - (case when s.day = e.day then s.net else 0 end))))) - s.score,
    'day': e.day}, {'score': 50000::bigint, 'net': 0::bigint, 'day': 0::bigint}).score as score
from lists order by track, domain
'''
connection = duckdb.connect()
connection.register("events", table)
def work():
    scores, streaks = np.full(TRACKS * 5, 50000), np.zeros(TRACKS * 5, dtype=np.int64)
    for of_track, of_domain, streak, score in connection.execute(QUERY).fetchall():
        scores[of_track * 5 + of_domain], streaks[of_track * 5 + of_domain] = score, streak
    return [told(scores, streaks)]
timed(work)
"""
)


def sized(events: int, tracks: int, days: int, part: int) -> list[bool]:
    """Run all sides on one workload, print them, and judge them; slow ones fold `part` of the events, DuckDB scaled."""
    print(f"{events} events, {tracks} agents, {days} days")
    sizes, less = [str(number) for number in (events, tracks, days)], [str(number) for number in (part, tracks, days)]
    ours, loop = Side("ours, the whole fold", OURS, sizes), Side("plain Python loop", LOOP, sizes)
    up = Side(f"ours, taken up at 9/10 of {part}", TAKEN_UP, less)
    duckdb, again = Side(f"duckdb, {part} events", DUCKDB, less), Side(f"ours, {part} events", OURS, less)
    run_in_turn([ours, loop, up, duckdb, again])
    is_same = ours.answer == loop.answer and up.answer == again.answer and duckdb.answer[0] == again.answer[0]
    print(f"      duckdb, scaled / ours: {duckdb.median * events / part / ours.median:.2f} (the page sets no goal)")
    return [
        judge("plain loop / ours, warm", loop.median / ours.median, 8 if tracks > 1 else 1, at_least=True),
        judge("same bytes", float(is_same), 1, at_least=True),
    ]


def main() -> None:
    """Print one line per side, then each goal."""
    if "--store" in sys.argv:
        from confidence_store import measured

        sys.exit(not all(measured(100_000 if "--small" in sys.argv else 1_000_000)))
    events = 1_000_000 if "--small" in sys.argv else 10_000_000
    results = sized(events, events // 5000, 60, events // 10)
    results += sized(events // 5, 1, 365, events // 50)
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
