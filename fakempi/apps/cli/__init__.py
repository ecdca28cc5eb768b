"""The command `fakempi`, also `python -m fakempi`. The only package that prints.

main            parses the arguments, runs the command, returns its exit code
parser          the commands
options         options of the commands
command_parser  errors of the parser in one sentence
help_texts      examples and exit codes for `--help`
console         standard output as a rich console
running         fakempi run on one number of ranks: exit code, failure report
rank_counts     fakempi run, and fakempi check -n 1..16: several numbers of ranks
interrupts      Ctrl-C and the time limit while a script runs
checking        fakempi check: a script in all schedules
searches        its search, its report, and the input of its runs
disturbances    fakempi check --skew and --kill-each: ranks that are late, or die
linting         fakempi lint: mistakes that are visible in source files
real_mpi        commands of an installed MPI: mpirun in place of fakempi run; fakempi watch
viewing         fakempi view: views of a trace
extras          -i and --figure, which need optional packages
replaying       fakempi view --what replay: animation with keys
keyboard        single key presses
paging          output that is higher than the terminal
listing         fakempi list: the catalogue
comparing       fakempi compare: algorithms of one operation
comparison      tables, plots and progress of a comparison
workers         worker processes of a comparison
tuning          fakempi tune: rules for Open MPI and MPICH
verifying       fakempi verify: results and claims of an algorithm
schedules       fakempi schedule: schedules of files and of algorithms
recordings      fakempi replay: recorded runs of applications
machines        fakempi calibrate, and agreement with measured times
explaining      fakempi explain: kinds of findings, and rules of fakempi lint
learning        fakempi learn: exercises
learn           the screen of fakempi learn
touring         fakempi tour: short programs, shown and run
completion      fakempi completion: commands, options and names in a shell; fakempi help
"""

from fakempi.apps.cli.main import main

__all__ = ["main"]
