"""`fakempi watch`: a hang of a program on a real MPI, explained.

job          starts the command, samples its ranks, decides that they hang, ends the job
connections  the socket, and what is known of each process that has connected
processes    the process table of Linux: subprocesses of ranks, programs in C, locks of files
ending       ends all processes of the job
positions    the position of each rank: its threads, its calls, or its end
mpi_calls    peers and members of a call, from its arguments
blocked      records of blocked ranks, as the emulator's deadlock report has them
causes       the likely cause of a hang
report       the report
emulator_command  the command that runs the program on the emulator
enabling     `fakempi.watch.enable`, for programs whose launcher cannot be changed
service      the watcher that it starts
junit        an entry of the test that hung for --junitxml
rank/        modules that run in the ranks; they import the standard library only
"""
