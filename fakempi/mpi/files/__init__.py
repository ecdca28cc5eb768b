"""Files that ranks share, on real files of the machine.

file        File: open and close, sizes, views, pointers; the calls that read and write are in `accesses`
accesses    the calls that read and write: at an offset, at a rank's own pointer or at the shared one; alone or all together
handle      what a File handle is made of, and what goes wrong with it
opened      what all ranks that have opened a file share: the file itself, its shared pointer, its place in time
views       which bytes of the file are a rank's, and in which order
storage     reading and writing runs of bytes

What is written is in the file when the call returns, and whoever reads after that finds it: the emulator has one baton, so
accesses are atomic whatever the program asked for. A file server is a part of the cost model (`FileServer`, wire/files.py);
without one, accesses take no modelled time.
"""
