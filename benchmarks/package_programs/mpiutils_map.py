"""mpiutils: a map over worker ranks."""

from mpiutils import dispatcher


def square(x):
    return x * x


result = dispatcher.map(square, range(20))
if dispatcher.am_dispatcher():
    print(sum(result))
dispatcher.exit(0)
