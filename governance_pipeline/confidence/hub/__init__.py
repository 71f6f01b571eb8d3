"""The client of an optional public hub: off until somebody registers, and never in the way of a rating.

What belongs here: registering, the queue of events that wait to be sent, sending them, and what the hub answers. What
does not: scores; nothing a hub says is ever an input of the fold. Source: spec/confidence.md §9, decision 0012.
"""
