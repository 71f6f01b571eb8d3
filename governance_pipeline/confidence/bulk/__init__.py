"""The fold of long histories as arrays: the same states as `confidence.fold`, to the last bit, many times faster.

What belongs here: columns, and each step of the fold over all events at once. What does not: any rule of its own;
amounts and their source are those of `confidence.amounts`, and a test holds this fold to the other one. What one event
did (a row with its reasons) is not kept: `confidence.fold` tells that.
"""
