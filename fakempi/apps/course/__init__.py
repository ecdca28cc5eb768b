"""`fakempi learn`: exercises, and automatic checks of solutions.

exercises/         one directory for each exercise: start.py, solution.py, check.py, notes.md; see README.md there
course             reads the exercises
student_directory  a student's directory: creates files without overwriting any, and records progress
former_names       names that exercises had before their numbers changed
trial              the interface of check.py: calls on ranks, comparisons, tests
calls              requests for calls, and their answers
cases              a call on several numbers of ranks, with and without buffering
wrong              the failure of a test: `Wrong`
mistakes           typical mistakes, recognized in the source and in the failure
judge              checks a file and returns a verdict
grading            checks many directories, and reports their grades
worker_process     sends requests to a worker process, and kills it after its time limit
worker_start       starts worker processes
worker_job         the file and the limits of a worker process
fork_server        a process that forks worker processes
worker             the worker process, which runs a student's program
sandbox            rejects calls that a student's program may not make
in_process         the same as a worker, without a process
running            carries out one request of a check
program            calls a function of a student's file on ranks
source             parses a student's file
values             values as JSON
limits             limits of time and memory
cpu_limit          ends a run after its limit of CPU time
tamper_check       detects changed functions of fakempi
"""

from fakempi.apps.course.trial import BUFFERED, RANKS, WAITING, CallResult, Trial, Wrong

__all__ = ["BUFFERED", "RANKS", "WAITING", "CallResult", "Trial", "Wrong"]
