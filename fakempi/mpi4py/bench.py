"""`-m mpi4py.bench`: hello world, a message around a ring, ping-pong, tasks for workers.

Times are modelled, so every round takes the same.
"""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import mean, stdev
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.base.current import running_process
from fakempi.mpi4py.futures import MPIPoolExecutor
from fakempi.mpi4py.options import LEVELS, Rc, take
from fakempi.mpi4py.util import pkl5


def _parser(name: str, verbose: bool, *numbers: tuple[str, int, str]) -> ArgumentParser:
    """What all commands take, and options with a number: names, default, meaning."""
    parser = ArgumentParser(prog=f"mpi4py.bench {name}")
    parser.add_argument("-q", "--quiet", action="store_false", dest="verbose", default=verbose, help="print nothing")
    for names, default, words in numbers:
        parser.add_argument(*names.split(), type=int, default=default, help=f"{words} (default: {default})")
    return parser


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def helloworld(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> str:
    """Every rank says hello, in order."""
    options = _parser("helloworld", verbose).parse_args(args)
    rank, size = comm.Get_rank(), comm.Get_size()
    width = len(str(size - 1))
    message = f"Hello, World! I am process {rank:{width}d} of {size} on {MPI.Get_processor_name()}."
    comm.Barrier()
    if rank > 0:
        comm.Recv(bytearray(), rank - 1)
    if options.verbose:
        _say(message)
    if rank < size - 1:
        comm.Send(b"", rank + 1)
    comm.Barrier()
    return f"{message}\n"


def ringtest(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> float:
    """How long a message takes around all ranks."""
    options = _parser(
        "ringtest", verbose, ("-n --size", 1, "bytes of the message"), ("-s --skip", 0, "rounds that do not count"),
        ("-l --loop", 1, "rounds that do"),
    ).parse_args(args)  # fmt: skip
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    sent, came = np.full(options.size, 42, np.uint8), np.zeros(options.size, np.uint8)
    comm.Barrier()
    start = MPI.Wtime()
    for i in range(options.skip + options.loop):
        if i == options.skip:
            start = MPI.Wtime()
        if size == 1:
            comm.Sendrecv(sent, right, 0, came, left, 0)
        elif rank == 0:
            comm.Send(sent, right, 0)
            comm.Recv(came, left, 0)
        else:
            comm.Recv(came, left, 0)
            comm.Send(came, right, 0)
    elapsed = MPI.Wtime() - start
    if options.loop + options.skip and not (came == 42).all():
        raise RuntimeError(f"ringtest on rank {rank}: what came back is not what was sent.")
    if options.verbose and rank == 0:
        _say(f"time for {options.loop} loops = {elapsed:g} seconds ({size} processes, {options.size} bytes)")
    return elapsed


def pingpong(
    comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True
) -> list[tuple[int, float, float]]:
    """How long messages of all sizes take between two ranks: bytes, mean and deviation of half a round trip."""
    parser = _parser(
        "pingpong", verbose, ("-m --min-size", 1, "bytes of the shortest message"),
        ("-n --max-size", 1 << 30, "bytes of the longest one"), ("-s --skip", 100, "round trips that do not count"),
        ("-l --loop", 10000, "round trips that do"), ("--skip-large", 10, "the same for large messages"),
        ("--loop-large", 1000, "the same for large messages"), ("--large-size", 1 << 14, "from where on they are large"),
        ("--skip-huge", 1, "the same for huge ones"), ("--loop-huge", 10, "the same for huge ones"),
        ("--huge-size", 1 << 20, "from where on they are huge"),
    )  # fmt: skip
    parser.add_argument("-a", "--array", choices=["numpy", "none"], default="numpy", help="send numpy arrays, or bytearrays")
    parser.add_argument("-p", "--pickle", action="store_true", help="send objects")
    parser.add_argument("--protocol", type=int, help="by this protocol of pickle")
    parser.add_argument("-o", "--outband", action="store_true", help="send objects in parts (mpi4py.util.pkl5)")
    parser.add_argument("--threshold", type=int, help="bytes from which on a buffer is a part of its own")
    parser.add_argument("--no-header", action="store_false", dest="header", help="only lines of numbers")
    parser.add_argument("--no-stats", action="store_false", dest="stats", help="only sizes and bandwidths")
    options = parser.parse_args(args)
    if options.protocol is not None:
        MPI.pickle.PROTOCOL = options.protocol
    if options.threshold is not None:
        pkl5.pickle.THRESHOLD = options.threshold
    peer: Any = pkl5.Intracomm(comm) if options.outband else comm
    header, found = options.header, []
    for nbytes, skip, loop in _rounds(options):
        out, into = (bytearray(nbytes) if options.array == "none" else np.empty(nbytes, np.uint8) for _ in range(2))
        trip = _trip_of_objects(peer, out) if options.pickle or options.outband else _trip(peer, out, into)
        comm.Barrier()
        times = [trip() for _ in range(skip + loop)][skip:]
        average = mean(times) if times else float("nan")
        found.append((nbytes, average, stdev(times) if len(times) > 1 else 0.0))
        if options.verbose and comm.Get_rank() == 0:
            if header:
                header = False
                _say("# MPI PingPong Test")
                _say("# Size [B]  Bandwidth [MB/s]" + " | Time Mean [s] \u00b1 StdDev [s]  Samples" * options.stats)
            rate = nbytes / average / 1e6 if average else float("inf")
            numbers = f" | {average:.7e} \u00b1 {found[-1][2]:.4e} {loop:8d}" if options.stats else ""
            _say(f"{nbytes:10d}{rate:18.2f}{numbers}")
    return found


def _rounds(options: Any) -> Iterator[tuple[int, int, int]]:
    """Sizes in bytes, and for each how many rounds do not count and how many do."""
    for nbytes in (1 << i for i in range(33)):
        if options.min_size <= nbytes <= options.max_size:
            skip, loop = options.skip, options.loop
            if nbytes > options.large_size:
                skip, loop = min(skip, options.skip_large), min(loop, options.loop_large)
            if nbytes > options.huge_size:
                skip, loop = min(skip, options.skip_huge), min(loop, options.loop_huge)
            yield nbytes, skip, loop


def _trip(comm: Any, out: Any, into: Any) -> Callable[[], float]:
    """Half a round trip of a buffer."""
    send, recv = [out, len(out), MPI.BYTE], [into, len(into), MPI.BYTE]
    return _half(
        comm, lambda to: comm.Send(send, to, 0), lambda source: comm.Recv(recv, source, 0),
        lambda: comm.Sendrecv(send, 0, 0, recv, 0, 0),
    )  # fmt: skip


def _trip_of_objects(comm: Any, obj: Any) -> Callable[[], float]:
    """Half a round trip of an object."""
    return _half(
        comm, lambda to: comm.send(obj, to, 0), lambda source: comm.recv(None, source, 0),
        lambda: comm.sendrecv(obj, 0, 0, None, 0, 0),
    )  # fmt: skip


def _half(
    comm: Any, send: Callable[[int], Any], recv: Callable[[int], Any], alone: Callable[[], Any]
) -> Callable[[], float]:
    rank, size = comm.Get_rank(), comm.Get_size()

    def trip() -> float:
        start = MPI.Wtime()
        if size == 1:
            alone()
            alone()
        elif rank == 0:
            send(1)
            recv(1)
        elif rank == 1:
            recv(0)
            send(0)
        return (MPI.Wtime() - start) / 2

    return trip


def futures(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> list[tuple[int, float, float]]:
    """How long workers take for tasks that hand back what they get, of all sizes: bytes, mean and deviation."""
    parser = _parser(
        "futures", verbose, ("-t --num-tasks", 50, "tasks for each worker"), ("-m --min-size", 0, "bytes of the smallest"),
        ("-n --max-size", 1 << 20, "bytes of the largest one"), ("-c --chunksize", 1, "calls in a task"),
        ("-s --skip", 1, "rounds that do not count"), ("-l --loop", 10, "rounds that do"),
        ("--skip-large", 1, "the same for large tasks"), ("--loop-large", 5, "the same for large tasks"),
        ("--large-size", 1 << 16, "from where on they are large"), ("--skip-huge", 1, "the same for huge ones"),
        ("--loop-huge", 3, "the same for huge ones"), ("--huge-size", 1 << 18, "from where on they are huge"),
    )  # fmt: skip
    parser.add_argument("-e", "--executor", choices=["mpi", "thread"], default="mpi", help="what workers are")
    parser.add_argument("-w", "--num-workers", type=int, help="how many")
    parser.add_argument("-a", "--allocator", choices=["numpy", "bytes"], default="numpy", help="what a task gets")
    parser.add_argument("-b", "--backoff", type=float, default=0.0, help="seconds between two looks, if threads take turns")
    parser.add_argument("-o", "--outband", action="store_true", help="send objects in parts (mpi4py.util.pkl5)")
    parser.add_argument("--no-header", action="store_false", dest="header", help="only lines of numbers")
    parser.add_argument("--no-stats", action="store_false", dest="stats", help="only sizes and rates")
    options = parser.parse_args(args)
    executor: Any = (
        ThreadPoolExecutor(options.num_workers) if options.executor == "thread"
        else MPIPoolExecutor(options.num_workers, backoff=options.backoff, use_pkl5=options.outband)
    )  # fmt: skip
    found = []
    with executor:
        workers = executor._max_workers
        if options.header and options.verbose and comm.Get_rank() == 0:
            _say(f"# {type(executor).__name__} - {workers} workers, {options.num_tasks} tasks/worker")
            _say("# Size [B]  Tasks/s" + " | Time Mean [s] \u00b1 StdDev [s]  Samples" * options.stats)
        for nbytes, skip, loop in _rounds(options):
            one = bytes(nbytes) if options.allocator == "bytes" else np.zeros(nbytes, np.uint8)
            data = [one] * (workers * options.num_tasks)
            times = [_time_of_tasks(executor, data, options.chunksize) for _ in range(skip + loop)][skip:]
            average = mean(times) if times else float("nan")
            found.append((nbytes, average, stdev(times) if len(times) > 1 else 0.0))
            if options.verbose and comm.Get_rank() == 0:
                rate = len(data) / average if average else float("inf")
                numbers = f" | {average:.7e} \u00b1 {found[-1][2]:.4e} {loop:8d}" if options.stats else ""
                _say(f"{nbytes:10d}{rate:9.0f}{numbers}")
    return found


def _time_of_tasks(executor: Any, data: list[Any], chunksize: int) -> float:
    start = MPI.Wtime()
    for _ in executor.map(_same, data, chunksize=chunksize):
        pass
    return MPI.Wtime() - start


def _same(value: Any) -> Any:
    """The task."""
    return value


COMMANDS: dict[str, Callable[..., Any]] = {each.__name__: each for each in (helloworld, ringtest, pingpong, futures)}


def main(args: Sequence[str] | None = None) -> None:
    """What `-m mpi4py.bench` does."""
    parser = ArgumentParser(prog="mpi4py.bench", usage="%(prog)s [option ...] command [argument ...]")
    parser.add_argument("--threads", action="store_true", default=None, help="ask for threads")
    parser.add_argument("--no-threads", action="store_false", dest="threads", default=None, help="or for none")
    parser.add_argument("--thread-level", choices=list(LEVELS), help="or for so much of them")
    parser.add_argument("command", help=", ".join(COMMANDS))
    parser.add_argument("args", nargs=REMAINDER, help="what the command takes; -h tells")
    options = parser.parse_args(args)
    asked = {name: getattr(options, name) for name in ("threads", "thread_level") if getattr(options, name) is not None}
    Rc(**asked)
    take(running_process())
    comm = MPI.COMM_WORLD
    if options.command not in COMMANDS:
        if comm.Get_rank() == 0:
            parser.error(f"there is no command {options.command!r}: there are {', '.join(COMMANDS)}.")
        parser.exit(2)
    COMMANDS[options.command](comm, options.args)
    parser.exit()


if __name__ == "__main__":
    main()
