"""What happened: a recorder that packs it into rows of numbers, the record of a run, and what can be read off it.

columns     what is kept of a transfer, an interval of computing, a region
recorder    watches a run
record      Trace: the columns, and records for those who want one at a time
regions     which of them are calls, and which are parts of one
states      who computes, communicates or is idle, when
measures    what can be read off a trace: rounds, critical (path), waits, each in a file of its own
files       .json and .npz; chrome: the events that Perfetto shows
"""
