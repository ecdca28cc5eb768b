"""`fakempi replay`: a recorded run of an application on another machine, or with other collective algorithms.

The emulator runs a program whose ranks make the recorded calls with buffers that have a size and no contents. So messages,
waiting times and collective algorithms are modeled exactly as those of any program, and nothing is implemented twice.

engine      replay: run a recording, and return an ReplayOutcome
program     the program of a rank: its events, call by call
calls       the collective calls of events
callers     make calls from the lines of the recorded program
sites       call sites of collective calls: their number, sizes and time
comparing   compare: replays with tables of algorithms, and with other algorithms at call sites
candidates  the algorithms to try at a call site
"""
