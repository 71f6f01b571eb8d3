"""The gate: what is asked of a person, what the person signed, and whether the bytes about to be used are those.

What belongs here: manifests, requests, decisions, their verification, and the guard every gated asset calls. What does
not: keys and independence (trust), remembering (ledger), launching anything (assets_defs). A Dagster check, a sensor
and the UI only show what is decided here; the refusal is made where the bytes are used (design §3, law 5). Nothing here
reads a clock: the time is an argument. Nothing is re-exported: import the module you need.
"""
