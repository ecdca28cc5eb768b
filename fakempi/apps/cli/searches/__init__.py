"""The search of `fakempi check` on one number of ranks, its report, and the input of its runs.

search    the schedules of a script, with a progress bar
report    the failures with their reasons, the commands that replay them, and the verdict
recorded_input    standard input that several runs read, each from its beginning
"""
