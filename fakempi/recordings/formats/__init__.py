"""Readers of the formats of recordings. Each produces a `Recording` through the methods of `EventWriter`.

files       files with one rank each: their lines or bytes, progress, and errors with a place
recorded    lines of our own recorder: files of `python -m fakempi.record`, and parts of traces
traced      traces of `fakempi run --trace FILE --cpu-scale 1`
dumpi/      binary traces of DUMPI, from the SST suite
allprof/    text traces of liballprof, the tracer of LogGOPSim
"""
