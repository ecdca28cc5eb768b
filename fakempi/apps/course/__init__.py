"""`fakempi learn`: exercises, and automatic checks of solutions.

exercises/         one directory for each exercise: start.py, solution.py, check.py, notes.md; see README.md there
course             reads the exercises
student_directory  a student's directory: creates files without overwriting any, and records progress
trial              the interface of check.py: calls on ranks, comparisons; `Wrong`
judge              checks a file and returns a verdict
grading            checks many directories and writes a table
worker_process     starts a worker process and sends it requests
worker             the worker process, which runs a student's program
in_process         the same as a worker, without a process
running            carries out one request of a check
program            calls a function of a student's file on ranks
source             parses a student's file
values             values as JSON
limits             limits of time and memory
tamper_check       detects changed functions of fakempi
"""

from fakempi.apps.course.trial import BUFFERED, RANKS, WAITING, CallResult, Trial, Wrong

__all__ = ["BUFFERED", "RANKS", "WAITING", "CallResult", "Trial", "Wrong"]
