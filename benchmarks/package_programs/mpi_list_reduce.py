"""mpi_list: a distributed list: map, filter, reduce, scan, collect."""

from operator import add

from mpi_list import Context

context = Context()
numbers = context.iterates(1000).map(lambda x: x * x).filter(lambda x: x % 3 == 0)
total, length = numbers.reduce(add, 0), numbers.len()
prefix = context.iterates(20).scan(add).collect()
if context.rank == 0:
    print(total, length, prefix)
