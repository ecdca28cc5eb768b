"""While a run goes on: how far it is, and what to do when it takes too long. For `run` and for the command line.

watching    a thread beside the run that looks at it now and then
limits      of parts of a run, which come and go
words       how far a run is, and where its ranks are, in words
lines       where that is shown: one line on a terminal, or several elsewhere
ending      how a run is ended from outside, whatever its ranks are doing
"""
