"""The search over schedules: explore, reproduce, minimize and explain failures.

explore          `explore`: the search within a budget
options          the options of a search
progress         a search in progress: the order of its trees, and the results so far
search           the search over one mode's tree of runs
random_choices   random schedules
trial            a run: its choices, and its result or exception
records          all information about a run that the search needs, as plain data
jobs             runs on workers
workers          runs ahead of the search, on the workers of an executor
scope            the modes in which a program is explored; runs show which of them can give different results
tree             nodes, edges and sleep sets of the tree of runs
races            races in a run, and the backtracking points that follow from them
equivalence      redundant schedules: equivalent messages, and independent choices
states           known states, at which a run ends
shared_objects   changes to Python objects that ranks share, which turn reductions off
outcomes         comparison of results and outputs between schedules
rank_output      the output of each rank
exploration      the results of a search: `Exploration`, `Failure`
explanation      minimization of a failing schedule, and the choice that decides
divergence       the first choice at which two schedules differ

The search is stateless model checking with dynamic partial-order reduction. Each run starts from the beginning, follows a
path of the tree, and at its end takes the first option that is not in the sleep set. Backtracking points are then derived
from the run. There is one tree per mode: buffering, synchronization, and whether data of nonblocking operations move early
or late. A program that uses a buffer before its operation is complete is found at these two ends only. Otherwise the search
misses no possible result, for these reasons:

* Two choice points are independent unless they are the same point, or both locks of threads, or both at windows of the same
  process: neither disables the other, and determined events are confluent. At a state it is therefore enough to explore all
  values of one point, and everything that races with it. After a run with a window lock or an atomic operation, all options
  are explored (`Tree._disable_reduction`).
* A value that arrives later races with a point if it does not depend on it (`Point.late`). The happens-before relation is
  stored in `past`, one bit for each choice that certainly happened before an event. The first step that leads to the value
  is explored in place of the point (races.py). A bit may be missing if a dependency was not observed: then that step is not
  found, and all options are explored there. No bit may be set wrongly. A message is therefore added to the past of a task
  when the task has waited for it, not when the message is matched.
* Sleep sets: an option that was explored first is in the sleep sets of the options that are explored after it
  (`Edge.sleep`).
* Keys are the same in all runs along a path: a task is named by its parent and its number, a message by its sender and its
  number. Spawned processes are numbered in the order in which they start, which may differ between runs. Programs that spawn
  processes are explored without the reductions that compare several runs (independent choices, known states).
* When a rank fails, the other ranks continue, because their actions may race with earlier choices. If a run is ended before
  its ranks are, all options along its path are explored.
* Equivalent messages and independent choices are skipped on the evidence of all runs so far (equivalence.py). If a later run
  contradicts it, they are explored after all. For this purpose `touched` may contain too many, but never too few, processes:
  every process that may have been influenced.
* State hashing: a run ends if all ranks have received the same data as in a known state (steering/state_hash.py). Races
  between the continuation and the path to the state are derived from the events after that state in all runs (states.py).
* All of this assumes that ranks communicate by MPI alone. Python objects that ranks share are compared at every new
  choice, at the end of every run, and in the first run before waits (shared_objects.py); if one changes, all options are
  explored.

Workers of an executor run schedules ahead of the search. The tree is updated from records of runs, in the order of the
sequential search, and each choice of a worker is compared with the tree (`Tree.replay`), so workers change no result.

Indices of options do not depend on the bound on polling, so a search continues with a larger bound in the same tree
(`Tree.deepen`). Turns of tasks that poll are fair, and a livelock is proved by repeated states (steering/fairness.py).

`tests/modelcheck/test_reduction.py` and `test_states.py` compare the search with one without reductions, on random programs;
`tests/modelcheck/oracle` compares it with an independent interpreter.
"""
