"""The web inbox: what waits for a person, on this machine only, signed with a passkey.

What belongs here: pages, the ceremony between browser and ledger, and everything that keeps other pages out. What does
not: any rule about who may decide what; each answer and each decision comes from `gate` itself, as for the commands.
"""
