import sys

from .state import counter, world

counter.append(world.rank)
world.Barrier()
print(__name__, __package__, counter, sys.argv[1:])
