"""Texts below the options in `fakempi COMMAND --help`: examples and exit codes."""

from __future__ import annotations

MPIRUN = """\
examples:
  fakempi mpirun -n 4 python work.py
  PATH="$(fakempi mpirun --path):$PATH" pytest
                             a suite that starts mpirun or mpiexec uses fakempi
  fakempi run -n 1 --mpirun work.py
                             the same for a script that starts mpirun

Options of mpirun that place processes on machines are accepted and ignored.
Only Python programs can be run, also by their names: mpirun -n 4 pytest.
"""

MAIN = """\
examples:
  fakempi tour                                  a tour of the main features
  fakempi learn                                 an MPI course with exercises
  fakempi run -n 64 work.py input.dat           run an unmodified mpi4py script
  fakempi lint src                              mistakes visible in the source
  fakempi list allgather                        algorithms, claims, sources
  fakempi compare bcast -n 2..64 --bytes 64k    compare algorithms
  fakempi verify ./knomial.py                   check an algorithm in a file
  fakempi schedule verify ring.xml              check a schedule (MSCCL, GOAL)

fakempi help COMMAND shows the options of a command, with examples.
fakempi completion makes Tab complete commands, options and names.
"""

RUN = """\
examples:
  fakempi run -n 4 work.py input.dat     instead of mpiexec -n 4 python work.py
  fakempi run -n 1000 -m package.module  run a module
  fakempi run -n 1..16 work.py           every number, to the first that fails
  fakempi run -n 8 --prefix work.py      print the rank before each line
  fakempi run -n 8 --seed 3 work.py      break ties between ranks differently
  fakempi run -n 8 --cost hockney:eager_limit=0 work.py
                                         test whether it relies on buffering
  fakempi run -n 8 --cpu-scale 1 work.py include measured CPU time
  fakempi run -n 4 --processes work.py   run each rank in a process
  fakempi run -n 4 --debug 1 work.py     run rank 1 under pdb, in a process
  fakempi run -n 8 --timeout 60 work.py  stop after 60 s; show where ranks are
  fakempi run -n 64 --algorithms mpich,allgather=ring work.py
  fakempi run -n 64 --algorithms 'bcast=./knomial.py(k=3)' work.py
                                         use an algorithm that a file defines
  fakempi run -n 16 --trace t.json work.py && fakempi view t.json

In the script, mpi4py is the emulator, even if the real mpi4py is installed.
Each rank has a copy of the script's modules and of the installed packages that
import mpi4py when they are imported. Packages with compiled modules are shared.
--share NAME and --private NAME override this for a package. With --processes
each rank is a process: it has its own modules, compiled ones too, and its own
signal handlers. Results and modeled times are the same; each call takes longer.

Errors that do not stop the run (findings) are listed at the end.

With several numbers of ranks, each run has a heading, and a line for each is
printed at the end. A number that the program refuses (all ranks exit with a
message and a code, or a rank calls Abort, before they communicate) is no
failure. The exit code is that of the smallest number that fails.

exit code: as mpiexec's, the bitwise or of all ranks' exit codes, or Abort's
error code; 1 after an exception or a deadlock; 3 for findings with --strict;
124 after a timeout; 130 after Ctrl-C; 143 after SIGTERM.

"""

CHECK = """\
examples:
  fakempi check -n 4 work.py                 all schedules, at most 1000 runs
  fakempi check -n 1..16 work.py             the smallest number that fails
  fakempi check -n 1..16 --compare across work.py   equal results on all of them
  fakempi check -n 4 --skew --kill-each work.py   late ranks, and ranks that die
  fakempi check -n 1..8,16 --all work.py     also those after a failure
  fakempi check -n 4 --runs 20000 --seconds 60 work.py --size 8
  fakempi check -n 4 --jobs 8 work.py        worker processes; the same result
  fakempi check -n 4 --html why.html work.py failing and passing schedule
  fakempi check -n 3 --first --traces race work.py
  fakempi view race.fails.json race.passes.json
  fakempi run -n 4 --schedule z:0.0.2.1 work.py       replay a schedule

The search varies what MPI leaves open, such as which message a receive from any
source takes, which requests Waitany, Waitsome and Testany return, whether a
test succeeds, whether sends wait for their receives. Findings are failures.
The script's output is not shown.

Several numbers of ranks share --runs and --seconds: each may use an equal part
of what is left. A number on which all ranks exit with a message and a code, or
a rank calls Abort, before they communicate is refused by the program, which is
no failure. Files are those of the smallest number that fails.

exit code: 0 if the search covered all schedules and none fails; 1 if one fails;
4 if none of the schedules that ran fails, but the search did not cover all, or
the program refuses every number; 2 for a usage error.
"""

LIST = """\
examples:
  fakempi list                   all operations and their algorithms
  fakempi list allgather         the algorithms with their claims and sources
  fakempi list inter:allgather   algorithms between two groups
  fakempi list ./knomial.py      the algorithm that a file defines as ALGORITHM
"""

VIEW = """\
examples:
  fakempi run -n 16 --trace t.json work.py
  fakempi view t.json                      summary, timeline and wait states
  fakempi view t.json --what critical,matrix
  fakempi view t.json --by call            colored by MPI call
  fakempi view t.json --what replay        messages in motion, in six seconds;
                                           keys pause, step and set the speed
  fakempi view t.json --ranks 0-7 --window 20us..50us --what timeline
  fakempi view -i t.json                   interactive, in the terminal
  fakempi view t.json --html page.html     interactive, in a browser
  fakempi view t.json --svg picture.svg    these views as vector graphics
  fakempi view t.json --figure figure.pdf --what timeline,matrix
  fakempi view before.json after.json      two runs next to each other

Perfetto (https://ui.perfetto.dev) opens .json files, too; .npz is smaller.
Output longer than the terminal is shown with $PAGER (default: less).
"""

COMPARE = """\
examples:
  fakempi compare allgather -n 2..256 --bytes 1k
  fakempi compare bcast -n 64 --bytes 1k..1M \\
                  --algorithms 'binomial,chain(segment_bytes=4k),./knomial.py'
  fakempi compare allgatherv -n 16 --bytes 1k..64k --distribution regular,spike
  fakempi compare allgather -n 64 --bytes 8..64k --cost cori:ranks_per_node=16
  fakempi compare inter:allgather -n 6+2,12+4 --bytes 1k --default
  fakempi compare allreduce -n 1024 --bytes 8..1M --dtype double
  fakempi compare allgather -n 2..64 --measure --csv figures.csv
  fakempi compare allgatherv --counts counts.txt
  fakempi compare allgather -n 2..256 --figure times.pdf --figure-width two
  fakempi compare bcast -n 4..64 --bytes 8..1M --layout heatmap --figure map.svg
  fakempi compare allreduce -n 4,64 --bytes 8,1M --latex table.tex
  mpiexec -n 8 python -m collectives.measure bcast --csv measured.csv
  fakempi compare bcast --beside measured.csv
  fakempi compare bcast --cost cluster.toml --beside measured.csv --timing osu
  fakempi compare bcast --beside osu_bcast.txt:algorithm=binomial,ranks=16

A number is claimed (from a formula) if the algorithm has a claim and the cost
model is the papers' (hockney with eager_limit=0, the default here). Otherwise,
and with --measure, it is emulated. --beside adds times that were measured on a
real machine.
Table and figure have all algorithms. The plot, and the figure in color, have
the fastest at each size and, up to 6 curves, those closest to them, or all
that --algorithms lists.
A file of counts has one number per line, or a comma-separated list per line,
or is JSON.
Sizes are the bytes of a rank's block, or of the whole message for operations
with one message (bcast, reduce, allreduce, scan), or of the average block with
--distribution. 1k..1M is every power of two between the two. Sizes are whole
numbers of elements; elements are char (1 byte), in reductions float (4 bytes),
as in the Intel MPI benchmarks, or those of --dtype.
Pipelined algorithms have their best segment size (a power of two, or that of
the default table) unless --algorithms gives one: 'chain(segment_bytes=4k)'.
Algorithms without a formula that need more than 1,500,000 messages have a dash
unless --algorithms names them. Ctrl-C prints the times that are finished.

"""

CALIBRATE = """\
examples:
  mpiexec -n 8 python -m fakempi calibrate -o cluster.toml
                  measure this machine: pairs of processes that share a cache,
                  a socket or a node, and pairs on different nodes
  fakempi calibrate --from pairs.csv --placement cores.csv -o cluster.toml
                  columns a,b,bytes,seconds and core,node,socket,cache (the
                  last two are optional); seconds are one way
  fakempi calibrate --from node:latency1.txt --from network:latency2.txt \\
                  --from network:osu_bw.txt -o cluster.toml
                  output of osu_latency, osu_bw, osu_mbw_mr or IMB-MPI1
                  PingPong; without a level it is network
  fakempi calibrate --from pairs.csv --placement cores.csv -o cluster.toml \\
                  --figure fit.svg
                  draw the fit and the errors at held-out sizes
  fakempi compare bcast --cost cluster.toml --beside measured.csv
  fakempi run -n 64 --cost cluster.toml:ranks_per_node=32 script.py

Ping-pongs give the time until a message arrives. They do not show how long it
occupies the sender: osu_bw or measured streams do, and so do linear broadcasts
(--collectives). Without these a message holds its ports until it arrives. From
broadcasts by other algorithms in the same file, --collectives also infers how
much longer a message takes in a tree than in a ping-pong.
The error of each level is measured at sizes that were not fitted.

exit code: 0, or 2 for a usage error or measurements that cannot be used.
"""

VERIFY = """\
examples:
  fakempi verify ./knomial.py                  a file that defines ALGORITHM
  fakempi verify allgather/ring                an algorithm of fakempi list
  fakempi verify inter:allgather/full_duplex   between two groups
  fakempi verify ./knomial.py --ranks 65 --seconds 300

The algorithm runs on many cases: numbers of ranks, sizes, roots, operations,
values of its parameters, with and without buffering, on both backends. Most
have short messages and up to 17 ranks; some have messages of more than 64 KiB,
or up to 40 ranks. The last lines state what was tried. Results are compared
with numpy's. Messages, bytes, rounds, scratch memory and modeled time are
compared with the algorithm's claims, exactly. Each error is shown in the
smallest case that has it, with the first round that differs.

exit code: 0 if everything holds, 1 if not, 2 for a usage error.
"""

EXPLAIN = """\
examples:
  fakempi explain                findings, errors, and rules of lint
  fakempi explain deadlock       a wrong program, its report, and a right one
  fakempi explain message-lost   its meaning, an example, and how to fix it
  fakempi explain FM101          the same for a rule of fakempi lint
"""

TOUR = """\
examples:
  fakempi tour            four pages, and more on request; q quits
  fakempi tour --fast     without pauses
  fakempi tour --list     the titles
  fakempi tour 3 4        pages 3 and 4

Every program is shown and then run; the output is not prerecorded.
"""

TUNE = """\
examples:
  fakempi tune --cost two_level:ranks_per_node=64 -n 2..256 \\
               --for openmpi -o rules.txt
  fakempi tune --cost cori -n 2..256 --ranks-per-node 32 \\
               --for mpich -o tuning.json
  fakempi tune --cost hockney -n 24,48,96 --operations bcast,reduce \\
               --for openmpi-json -o rules.json

For each operation, number of ranks and size, the modeled times of the library's
algorithms are compared. A rule applies up to the next number of ranks and size.
The model is unsure where the best algorithm is less than --margin percent
faster than the library's default; there, and below the smallest and above the
largest number of ranks, the library decides. Times are estimated from
schedules, not emulated.
openmpi is Open MPI's classic rule file (to release 5), openmpi-json that of
release 6, mpich the selection file of MPICH 5.

"""
