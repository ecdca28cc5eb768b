"""Changes of modules that the program imports, in the process of a rank.

debugging            `breakpoint()` and pdb on a rank without input are ignored with a sentence
extension_modules    rejects compiled modules that call an MPI library
loaded               packages that are loaded before the program imports them
sockets              a rank that waits for a socket lets others run
workers              workers of multiprocessing that are other programs end with the run
"""
