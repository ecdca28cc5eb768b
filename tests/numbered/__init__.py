"""Small programs with a mistake, each with the smallest number of ranks on which it fails, and its corrected version.

blocks       rows distributed over ranks: remainders, empty blocks, offsets
neighbors    partners, rings, grids and trees
sources      mistakes that are visible in the source: `fakempi lint` reports them
schedules    masters and workers, roots, and programs that fail in some schedules
program      what a program is
catalogue    all of them
judging      what fakempi check and fakempi lint report on a program
"""
