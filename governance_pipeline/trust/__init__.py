"""Who may sign, what a signature covers, and whether a validator is independent of the work it validates.

What belongs here: envelopes (DSSE), keys and signers, the trust root, identities, lineage and independence. What does
not: remembering anything (ledger) and releasing anything (gate). Nothing here reads a clock: the time is an argument.
Nothing is re-exported: import the module that holds the word you need.
"""
