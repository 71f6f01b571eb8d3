"""The governed project folder: scaffold, state, locks, registry, authority, incidents and re-baseline, as gates.

What belongs here: what spec/framework.md promises for a folder that agents work in. What does not: a second version of
what another package owns; comparing tables is `crosscheck`'s, independence `trust`'s, locks and atomic writes
`storage`'s, the record of what happened `ledger`'s, and signed approvals `gate`'s.
"""
