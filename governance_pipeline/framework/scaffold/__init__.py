"""Laying out a governed folder, and looking whether it is as laid out.

What belongs here: the tree as data, the bytes of each file, making what is missing, comparing, and the same as scripts
for machines without Python. What does not: what the files are used for afterwards; `state`, `registry`, `allowlist`,
`incidents` and `rebaseline` own that.
"""
