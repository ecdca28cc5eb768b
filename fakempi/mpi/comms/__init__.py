"""Groups and communicators: creation, properties, processes, ports.

Creating a communicator (Split, Dup, Create and others) sends no messages. All ranks enter a rendezvous, the last one
computes the result for all, and all continue at that time, so that it takes no modeled time. With an algorithm for Split
(`algorithms={"split": "hash"}`), every rank enters the rendezvous, runs the algorithm on the collective context, and
continues when the algorithm returns its rank and group size. A rank without a color first waits for a rank with a color,
whose declaration contains the types of colors and keys. Algorithms for Create_group, Create_intercomm and Merge start when
the rendezvous is complete.

Spawn is such a rendezvous too. `fakempi.run` and Spawn both call `new_world`: process numbers continue from the last one,
and each process gets ports and a handle of the new COMM_WORLD. The clocks of children start at their parents' time.

group             groups of processes
comm              the common part of intracommunicators and intercommunicators
intracomm         intracommunicators
intercomm         intercommunicators
predefined        COMM_WORLD, COMM_SELF
properties        name, info, error handler, attributes and topology of a communicator
colors            colors and keys of Split
topology_makers   creation of grids and graphs
topocomm          communicators with a topology
from_groups       communicators from groups, without a parent communicator
process_creation  new processes with their COMM_WORLD
spawning          Spawn and Spawn_multiple
python_options    options of Python in a command line
console_scripts   commands that are Python programs
port              a port or a socket: two groups wait for each other
ports             Accept, Connect, and published names
disconnect        Disconnect: wait for all ranks and for pending operations
resilient         ULFM's calls: revoke, agree, shrink
units             processors and network interfaces of a rank, for schedules that use several
"""
