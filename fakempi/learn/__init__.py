"""`fakempi learn`: exercises, and whether they are done.

exercises/    one folder each: start.py, solution.py, check.py, notes.md; README.md there says how to write one
course        reads them
folder        a student's folder: set up, never overwritten, and how far it is
trial         what a check is handed: calls on ranks, comparisons; `Wrong`
judge         a check of a file, and its verdict
grading       many folders, as a table
process       the other end of a worker: a process with limits that runs students' programs
worker        that process: running calls a program's functions on ranks; values travel as JSON, limits and seals hold
inside        the same without a process
"""

from fakempi.learn.trial import BUFFERED, RANKS, WAITING, Outcome, Trial, Wrong

__all__ = ["BUFFERED", "RANKS", "WAITING", "Outcome", "Trial", "Wrong"]
