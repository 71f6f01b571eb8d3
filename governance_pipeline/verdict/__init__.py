"""Signals, policy and verdicts: what the tables of a round add up to, and why.

What belongs here: the decision table, the detectors, the verdict tables and documents. What does not: comparing numbers
(crosscheck), measuring surface (trajectory), judging a validator (trust) and passage (gate). Nothing is re-exported:
import the module that holds the word you need. Source: spec/verdict.md.
"""
