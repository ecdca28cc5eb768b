"""`mpiexec -n 8 python -m fakempi.record work.py`: records the MPI calls of a program on a real MPI, one file per rank.

`fakempi replay` reads the files (fakempi/recordings/formats/recorded.py). The ranks import the standard library and mpi4py
only. The classes of mpi4py are compiled, so their methods are replaced in the dictionaries of the types: objects that
compiled code creates are recorded, too, and programs see the same types as without the recorder.

running         the command: start a recording, run the program, end the recording
log             the file of a rank: call sites, times, and what is written when
pickles         sizes of pickled objects
wrapping        replaces methods of compiled types
rank_of_mpi     RankOfMPI: the recording of a rank

The first line of a file has the version, the second one facts about the rank in JSON; the lines that follow are those of
fakempi/extensions/recorder. A file without an `end` is complete up to the last flush.
"""
