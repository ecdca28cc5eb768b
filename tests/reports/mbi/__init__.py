"""Programs after the window part of the MPI Bugs Initiative, generated for fakempi, with the verdict that each must get.

The MPI Bugs Initiative (MBI; Laurent, Saillard, Quinson, Correctness 2021) generates small C programs by error category. The
combinations are taken from its public window generators, as SimGrid distributes them (teshsuite/smpi/MBI/RMA*.py): they
make 124 programs that MBI calls wrong. The programs here are our own, in Python. They differ where MBI's cannot work:

- MBI runs its programs with two origins on 2 ranks, where there is no second origin. They run on 3 ranks here.
- MBI's programs with a remote and a local access use different displacements. Here both accesses use one item.
- `Win.Create` takes the size of a window from its memory, so a base that is null or too short is refused elsewhere: where
  the memory is made, or where it is accessed.
- Two accesses that only read do not conflict by MPI's rules. MBI calls 9 such programs wrong, and they are correct here: two
  `Get`s of one item (3), a `Get` next to a load (3), a `Get` next to a `Put` that reads the item (3).

Without the 3 programs with two `Get`s MBI's programs are 121.
"""
