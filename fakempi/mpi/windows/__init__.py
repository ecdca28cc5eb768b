"""One-sided communication: ranks read and write the memory of other ranks without their participation.

win              the Win handle; Create, Allocate, Allocate_shared, Create_dynamic, Free, Attach, Detach
handle           the state of a Win handle, and its error reporting
accesses         Put, Get, Accumulate and related calls, with and without a request
epochs           Fence, Start, Complete, Post, Wait, Lock, Unlock, Flush
properties       a window's name, info, error handler, attributes, memory and group
window           the state that all ranks of a window share, and the state of one rank
lock_grants      permission to access a target: a granted lock, or the target's Post
locks            the lock of a target: holders and queue
channel          the connection from one rank of a window to another, which keeps the order of operations
operations       operations in transit, and their effect at the target
target_memory    the bytes that an operation accesses at the origin and at the target
fast_put         the fast path for the most common Put
races            detection of conflicting accesses
stores           detection of conflicting local stores in epochs of Fence and Post
locked_stores    detection of conflicting local stores under locks

Window operations use the network's ports, but no mailbox. An operation starts when its epoch permits it: immediately after a
Fence, otherwise once its lock is granted or the target's Post has arrived (`AccessGrant`). Cost in modeled time:

Put, Accumulate                one transfer through both ports (`Delivery.send_matched`)
Get                            an empty transfer to the target, and one with the data back
Get_accumulate, Fetch_and_op,  a transfer with the operands to the target, and one with the old data back
Compare_and_swap
Lock                           an empty transfer to the target, where locks are granted in order of arrival (`TargetLock`),
                               and an empty one back; none with MODE_NOCHECK
Lock_all                       the same for each target, at the first operation on it
Unlock                         an empty transfer to the target after all operations have completed
Post, Complete                 an empty transfer to each origin, or to each target
Fence                          no transfer: it returns on a rank when all ranks have called it (`WindowRendezvous`) and all
                               operations from and to that rank have completed

An operation takes effect when it arrives. The target's program is not involved, but its ports are. Loads and stores in
shared memory (Allocate_shared) take no time. Conflicting accesses that no synchronization orders are findings (`races`).
"""
