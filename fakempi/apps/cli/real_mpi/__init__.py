"""Commands of an installed MPI.

mpirun    its command line in place of `fakempi run`
watching    fakempi watch: a hang of a program that it runs, explained
"""
