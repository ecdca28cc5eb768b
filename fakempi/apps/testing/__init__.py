"""Implementation of the pytest plugin: a marked test on virtual ranks.

alias            the module that `import mpi4py` loads during a test session
calls            calls of a marked test on every rank: functions, Hypothesis examples, methods of a TestCase
fixtures         the fixtures of the plugin, and those that every rank creates
each_number      one test on several numbers of ranks, smallest first
limits           time limits of tests
markers          the markers, and the numbers of ranks that they request
outcome          the outcome of a test on its ranks, and its report
in_processes     tests on ranks that are processes
rank_session     options and plugins of such a session
in_child         the plugin of pytest in the process of a rank
source_lines     the program's lines that reports name
output           recording of output by rank
isolation        tests whose ranks have private modules: which ones, and what they replace
one_test         pytest with one test on every rank, for these tests
rank_plugin      the plugin of pytest on such a rank
world_reads      modules and fixtures that use COMM_WORLD before the ranks run
schedules        exploration of a test in every schedule
subtests         `subTest` of a TestCase on a rank
suppressing      suppressed findings of a session
session          pytest itself on the ranks of `fakempi run`
child_session    the same with `--processes`
records          files with the results of tests: for continuous integration, JUnit reports
shared_objects   objects that ranks share and have changed
mpi4py_choice    decides what `import mpi4py` loads
marked_files     finds test files with marks for ranks
environment      how pytest was started: virtual ranks, `fakempi run`, mpiexec, other plugins
"""
