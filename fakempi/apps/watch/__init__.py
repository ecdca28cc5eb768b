"""`fakempi watch`: a hang of a program on a real MPI, explained.

job          starts the command, samples its ranks, decides that they hang, ends the job
connections  the socket, and what is known of each process that has connected
processes    the process table of Linux: subprocesses of ranks, programs in C, locks of files
ending       ends all processes of the job
mpi_calls    peers and members of a call, from its arguments
blocked      records of blocked ranks, as the emulator's deadlock report has them
causes       the likely cause of a hang
report       the report
junit        an entry of the test that hung for --junitxml
enabling     `fakempi.watch.enable`, for programs whose launcher cannot be changed
rank/        modules that run in the ranks; they import the standard library only
"""
