"""Readers of the formats of recordings. Each produces a `Recording` through the methods of `EventWriter`.

files       files with one rank each: their lines or bytes, progress, and errors with a place
recorded    text files of our own recorder (fakempi/apps/record)
dumpi/      binary traces of DUMPI, from the SST suite
allprof/    text traces of liballprof, the tracer of LogGOPSim
"""
