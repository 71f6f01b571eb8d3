"""Telling people what waits for them, outside of the command line and the web UI.

What belongs here: who is told (`targets`), of what (`notices`), what was sent already (`outbox`, in the ledger), the
words (`message`) and the way (`delivery`). What does not: any decision; a message that is lost opens and closes
nothing. Nothing here reads a clock or the environment.
"""
