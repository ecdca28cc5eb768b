"""A brute-force oracle for `fakempi.explore`: small message programs, interpreted without fakempi.

program       the representation: per rank a list of operations
interpreter   every outcome that MPI allows, by a search over all states (independent of fakempi)
state         the states of that search
generator     random programs
source        a program as Python source text that calls MPI
driver        runs `fakempi.explore` on that text and collects the outcomes
compare       what `explore` promises, compared with what the interpreter finds
shrink        the smallest program that still disagrees

`python -m tests.modelcheck.oracle 5000` compares 5,000 random programs.
"""
