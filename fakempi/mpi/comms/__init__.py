"""Groups and communicators, and how they are made.

group, comm, intracomm, intercomm    what programs hold; `comm` is what the last two have in common
predefined, properties               COMM_WORLD and kin; names, info, attributes on a communicator
topology_makers, topocomm            grids and graphs: how they are made, and what they can do
from_groups                          communicators of groups alone, without one around them
birth, spawning                      processes: the first ones, and those born later
ports, disconnect                    groups that meet at a port; the last meeting on a communicator
"""
