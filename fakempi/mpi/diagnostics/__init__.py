"""Diagnosis of runs: deadlocks, livelocks and leaks, as records from which `core.reports` composes text.

waits       the operations that blocked ranks wait for
leaks       operations that never completed, and resources that were not freed
last_state  where ranks were when a failure ended the run, for its trace
ending      the end of a run: the errors that it raises
polling     ranks that poll while no other event is possible; livelocks
results     results of a program that must not depend on the number of ranks
snapshot    the content of all Python objects that code can reach, as a comparable value
"""
