"""`fakempi tune`: rules for Open MPI and MPICH.

commands    chooses the rules, writes the file, prints the expected gains
"""
