"""Recorded runs of applications: what each rank called, with which sizes, and the computing time between calls.

Every reader of a format produces a `Recording`; `fakempi replay` executes it. A reader depends on its format and on this
model only: no reader imports another part of fakempi than `errors`, and `trace` for the traces of runs.

events        the columns of events, the kinds of calls, and Communicator: the members of a communicator
writing       EventWriter: appends the events of one rank
recording     Recording, and RecordingBuilder, which readers use
checks        checks a recording: members, ranks, requests, counts, the order of collective calls
reading       read: finds the format of a file or directory, and reads it
formats/      a reader for each format
"""
