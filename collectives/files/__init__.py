"""Collective file access: ranks exchange data so that the file gets few large accesses.

A file is any object with `Write_at(offset, bytes)` and `Read_at(offset, bytes)` and offsets in bytes: an mpi4py file with
its default view, or the emulator's file. A rank accesses runs of bytes of the file, at increasing offsets.

write_all/    write_all/<name>.py: algorithms of Write_all
read_all/     read_all/<name>.py: algorithms of Read_all
two_phase     two-phase access, used by both operations
runs          runs of bytes in a file
claims        claims of two-phase access
"""
