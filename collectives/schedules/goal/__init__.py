"""Schedules in GOAL, the text format of LogGOPSim and ATLAHS.

    num_ranks 2
    rank 0 {
    l1: send 8b to 1 tag 7
    l2: calc 100
    l2 requires l1
    }
    rank 1 {
    l1: recv 8b from 0 tag 7
    }

`calc` is in nanoseconds; `requires` waits for the end of another operation, `irequires` for its start. A dependency may also
follow its operation (`l2: calc 100 requires l1`), and may name an operation that is further down. White space, line ends and
comments (`//`, `/* */`) separate words and have no other meaning. `tag`, `cpu` and `nic` are 0 if they are missing.
Operations on different `cpu`s of a rank run at the same time; `nic` is the network interface of a message.

GOAL has sizes but no buffers. A file that `write` produces also has comments that start with `// fakempi`: they give the
buffer ranges and local operations, so that reading it returns the same schedule. Other programs ignore them.

reading         read a file
operations      read the operations of a rank
tokens          words, numbers and marks, without the comments between them
writing         write a file
binary          read the binary form
"""

from __future__ import annotations

from collectives.schedules.goal.binary import MAGIC as MAGIC
from collectives.schedules.goal.binary import read_binary as read_binary
from collectives.schedules.goal.binary import refuse_binary as refuse_binary
from collectives.schedules.goal.reading import read as read
from collectives.schedules.goal.writing import write as write
