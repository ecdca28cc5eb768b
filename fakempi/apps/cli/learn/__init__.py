"""The screen of `fakempi learn`.

loop     watches the exercise files and reads keys
actions  the results of keys: a run of the student's program, its timeline, a hint, a solution
grading  grades of many students
screen   layout of a verdict and of an exercise
"""
