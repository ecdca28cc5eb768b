"""Types that packages of `mpi` share: services that a run may have, operations to wait for, and arguments of public calls.

services      optional services of a run, as Protocols: trace, fused collectives, model checking, buffer checks, CPU time
operations    operations for which a rank waits
records       records of requests, and of resources that have to be freed
buffers       memory that a program passes to a call
arrays        numpy's arrays and dtypes, of any element
"""
