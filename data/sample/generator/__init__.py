"""What writes `data/sample`: plans of rounds in, bytes and expected answers out.

Nothing here imports the library: the expected answers are worked out from the plans alone, so that a mistake of the
pipeline cannot hide in them. No clock, no environment, no random module: the same code gives the same bytes on every
machine and every supported Python.
"""
