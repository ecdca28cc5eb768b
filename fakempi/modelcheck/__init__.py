"""Model checking: all schedules of a program.

steering/   runs whose order of events is decided by explicit choices
search/     the search over these choices: `explore`
"""
