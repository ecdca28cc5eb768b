"""`fakempi check --skew` and `--kill-each`: the same script with a rank that is late, or that dies.

cases      which rank is late, or dies at which call: all cases, or a part of them within a budget
judging    what a run must do in a case: the rule for programs with and without fault tolerance
check      the command: a line for each rank, and the report of the first failure
options    the options, and their disturbances of a single run
"""
