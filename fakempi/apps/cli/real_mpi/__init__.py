"""Commands that run programs on an installed MPI.

watching  fakempi watch: a hang, explained
"""
