"""An algorithm put to the test, on the emulator or on a real machine. Whoever writes one needs nothing of this.

cases     a case for so many ranks and bytes, or for one's own counts
counts    one's own counts, read from a file
calls     what a rank hands to an algorithm in a case
timing    the papers' method: repeat, synchronise, the slowest rank, the median
typed     numbers as people type them
"""
