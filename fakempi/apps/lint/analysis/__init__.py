"""Abstract interpretation of one file: what each rank may call, in which order, and under which conditions.

rank_values   values: communicators, lists, and whether a value depends on the rank
formulas      values as functions of rank and size, evaluated for a few sizes
mpi_calls     names of MPI calls: collective, point-to-point, nonblocking
known_names   functions of Python and numpy whose results depend only on their arguments
events        what a function does, as a tree: MPI calls, branches, loops, ends of paths
definitions   functions, classes and instances of the file
expressions   evaluates expressions
containers    evaluates lists, slices and comprehensions
comm_calls    evaluates calls of methods of communicators
calls         evaluates other calls; calls of functions of the file are followed
statements    executes statements
assignments   changes variables and attributes
file_analysis  interprets a file: module level, then each function
"""
