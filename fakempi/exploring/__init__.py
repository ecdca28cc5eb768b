"""All schedules of a program: explore, replay, shrink, explain.

explore     `explore`: the search, within a budget
search      trees of runs, the simplest deviations first; after them chance
tree        what is known of each state: what could be done there, what has been, what need not be
races       who came too late for a choice that could have waited: what else has to be tried
alike       messages that nobody can tell apart, and choices that never meet: what need not be tried
states      states that are known, and who has ended there: what need not be gone on from
shared      objects that all ranks can change, which make states unknown
found       what became of it, and the verdict in words
why         the fewest deviations that fail, and the one that made the difference
"""
