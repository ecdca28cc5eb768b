"""Progress display, time limits and Ctrl-C, for `run` and for the command line.

monitor         a thread that observes a run, shows its progress, and ends it after the time limit
stop_requests   ends a run on Ctrl-C, or when another thread requests it
limits          time limits of parts of a run
interruption    ends a run from outside, even if its ranks compute or block
status          progress, and the positions of ranks, as text
display         shows the progress: one line on a terminal, several lines elsewhere
busy_waiting    reports ranks that wait for others in a loop without an MPI call
"""
