"""Implementation of the pytest plugin: a marked test on virtual ranks.

alias            the module that `import mpi4py` loads during a test session
calls            calls of a marked test on every rank: functions, Hypothesis examples, methods of a TestCase
fixtures         fixtures that every rank creates: those that need a communicator
path_fixtures    the fixtures of pytest-mpi: directories and file names that are equal on all ranks
comm_fixtures    the fixtures `comm` and `mpi_ranks`
limits           time limits of tests
markers          the markers, and the numbers of ranks that they request
outcome          the outcome of a test on its ranks, and its report
in_processes     tests on ranks that are processes
in_child         the plugin of pytest in the process of a rank
source_lines     the program's lines that reports name
output           recording of output by rank
private_modules  modules that are private to each rank
schedules        exploration of a test in every schedule
subtests         `subTest` of a TestCase on a rank
suppressing      suppressed findings of a session
session          pytest itself on the ranks of `fakempi run`
child_session    the same with `--processes`
junit_report     one JUnit report for all ranks of `fakempi run -m pytest`
shared_objects   objects that ranks share and have changed
environment      how pytest was started: virtual ranks, `fakempi run`, mpiexec, other plugins
"""
