"""How far each agent and each user can be trusted, in five domains, as a replayable fold of events.

What belongs here: events and their rules, the fold, pools, teams, and what is shown of them. What does not: anything
that reads a score to decide something. Confidence informs and never blocks: no verdict, gate or policy imports this
package (a contract of the import linter) or reads its tables.
"""
