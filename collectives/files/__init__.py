"""What ranks that access one file together tell each other, so that the file sees few large accesses.

A file here is anything with `Write_at(offset, bytes)` and `Read_at(offset, bytes)` whose offsets are bytes: an mpi4py file
with its first view, or the emulator's. What a rank accesses are runs of bytes of the file, at increasing places.
`two_phase` and `pieces` are texts that both operations share, `paper` has their claims.
"""
