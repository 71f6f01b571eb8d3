"""The re-baseline protocol: what to do when a documented assumption no longer holds.

What belongs here: the steps, each in its module, in the order declare, freeze, rederive, revalidate, reissue, record,
resume; and noticing that one is due. What does not: the fold of the steps (`ledger.rebaselines`) and what people sign
(`trust.rebaseline_statement`). Source: spec/framework.md §7.
"""
