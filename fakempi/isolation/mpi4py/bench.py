"""The commands of `-m mpi4py.bench`: helloworld, ringtest, pingpong and futures.

Times are modeled, so repeated rounds of messages take the same time.
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
from fakempi.isolation.mpi4py.futures import MPIPoolExecutor
from fakempi.isolation.mpi4py.options import LEVELS, Rc, apply_options
from fakempi.isolation.mpi4py.util import pkl5
from fakempi.mpi.base.current import running_process


def _parser(name: str, verbose: bool, *numbers: tuple[str, int, str]) -> ArgumentParser:
    """Return a parser with the common options and with integer options given as (names, default, meaning)."""
    parser = ArgumentParser(prog=f"mpi4py.bench {name}")
    parser.add_argument("-q", "--quiet", action="store_false", dest="verbose", default=verbose, help="print nothing")
    for names, default, meaning in numbers:
        parser.add_argument(*names.split(), type=int, default=default, help=f"{meaning} (default: {default})")
    return parser


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def helloworld(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> str:
    """Print a line on every rank, in rank order."""
    options = _parser("helloworld", verbose).parse_args(args)
    rank, size = comm.Get_rank(), comm.Get_size()
    width = len(str(size - 1))
    message = f"Hello, World! I am process {rank:{width}d} of {size} on {MPI.Get_processor_name()}."
    comm.Barrier()
    if rank > 0:
        comm.Recv(bytearray(), rank - 1)
    if options.verbose:
        _print(message)
    if rank < size - 1:
        comm.Send(b"", rank + 1)
    comm.Barrier()
    return f"{message}\n"


def ringtest(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> float:
    """Send a message around the ring of all ranks, repeatedly; return the time of all measured rounds in seconds."""
    options = _parser(
        "ringtest", verbose, ("-n --size", 1, "bytes of the message"), ("-s --skip", 0, "warm-up rounds"),
        ("-l --loop", 1, "measured rounds"),
    ).parse_args(args)  # fmt: skip
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    sent, received = np.full(options.size, 42, np.uint8), np.zeros(options.size, np.uint8)
    comm.Barrier()
    start = MPI.Wtime()
    for i in range(options.skip + options.loop):
        if i == options.skip:
            start = MPI.Wtime()
        if size == 1:
            comm.Sendrecv(sent, right, 0, received, left, 0)
        elif rank == 0:
            comm.Send(sent, right, 0)
            comm.Recv(received, left, 0)
        else:
            comm.Recv(received, left, 0)
            comm.Send(received, right, 0)
    elapsed = MPI.Wtime() - start
    if options.loop + options.skip and not (received == 42).all():
        raise RuntimeError(f"ringtest on rank {rank}: the received data differ from the data sent.")
    if options.verbose and rank == 0:
        _print(f"time for {options.loop} loops = {elapsed:g} seconds ({size} processes, {options.size} bytes)")
    return elapsed


def pingpong(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> list[tuple[int, float, float]]:
    """Measure messages between ranks 0 and 1; return (bytes, mean, standard deviation) of half a round trip, by size."""
    parser = _parser(
        "pingpong", verbose, ("-m --min-size", 1, "bytes of the shortest message"),
        ("-n --max-size", 1 << 30, "bytes of the longest message"), ("-s --skip", 100, "warm-up round trips"),
        ("-l --loop", 10000, "measured round trips"), ("--skip-large", 10, "warm-up round trips of large messages"),
        ("--loop-large", 1000, "measured round trips of large messages"),
        ("--large-size", 1 << 14, "bytes above which messages are large"),
        ("--skip-huge", 1, "warm-up round trips of huge messages"),
        ("--loop-huge", 10, "measured round trips of huge messages"),
        ("--huge-size", 1 << 20, "bytes above which messages are huge"),
    )  # fmt: skip
    parser.add_argument("-a", "--array", choices=["numpy", "none"], default="numpy", help="send numpy arrays or bytearrays")
    parser.add_argument("-p", "--pickle", action="store_true", help="send objects")
    parser.add_argument("--protocol", type=int, help="pickle protocol")
    parser.add_argument("-o", "--outband", action="store_true", help="send buffers out of band (mpi4py.util.pkl5)")
    parser.add_argument("--threshold", type=int, help="minimum size of an out-of-band buffer in bytes")
    parser.add_argument("--no-header", action="store_false", dest="header", help="print no header")
    parser.add_argument("--no-stats", action="store_false", dest="stats", help="print only sizes and bandwidths")
    options = parser.parse_args(args)
    if options.protocol is not None:
        MPI.pickle.PROTOCOL = options.protocol
    if options.threshold is not None:
        pkl5.pickle.THRESHOLD = options.threshold
    wrapped: Any = pkl5.Intracomm(comm) if options.outband else comm
    header, results = options.header, []
    for nbytes, skip, loop in _rounds(options):
        out, into = (bytearray(nbytes) if options.array == "none" else np.empty(nbytes, np.uint8) for _ in range(2))
        half_trip = _object_timer(wrapped, out) if options.pickle or options.outband else _buffer_timer(wrapped, out, into)
        comm.Barrier()
        times = [half_trip() for _ in range(skip + loop)][skip:]
        average = mean(times) if times else float("nan")
        results.append((nbytes, average, stdev(times) if len(times) > 1 else 0.0))
        if options.verbose and comm.Get_rank() == 0:
            if header:
                header = False
                _print("# MPI PingPong Test")
                _print("# Size [B]  Bandwidth [MB/s]" + " | Time Mean [s] \u00b1 StdDev [s]  Samples" * options.stats)
            rate = nbytes / average / 1e6 if average else float("inf")
            numbers = f" | {average:.7e} \u00b1 {results[-1][2]:.4e} {loop:8d}" if options.stats else ""
            _print(f"{nbytes:10d}{rate:18.2f}{numbers}")
    return results


def _rounds(options: Any) -> Iterator[tuple[int, int, int]]:
    """Yield (bytes, warm-up rounds, measured rounds) for each size."""
    for nbytes in (1 << i for i in range(33)):
        if options.min_size <= nbytes <= options.max_size:
            skip, loop = options.skip, options.loop
            if nbytes > options.large_size:
                skip, loop = min(skip, options.skip_large), min(loop, options.loop_large)
            if nbytes > options.huge_size:
                skip, loop = min(skip, options.skip_huge), min(loop, options.loop_huge)
            yield nbytes, skip, loop


def _buffer_timer(comm: Any, out: Any, into: Any) -> Callable[[], float]:
    """Return a function that times half a round trip of a buffer."""
    send, recv = [out, len(out), MPI.BYTE], [into, len(into), MPI.BYTE]
    return _timer(
        comm, lambda to: comm.Send(send, to, 0), lambda source: comm.Recv(recv, source, 0),
        lambda: comm.Sendrecv(send, 0, 0, recv, 0, 0),
    )  # fmt: skip


def _object_timer(comm: Any, obj: Any) -> Callable[[], float]:
    """Return a function that times half a round trip of an object."""
    return _timer(
        comm, lambda to: comm.send(obj, to, 0), lambda source: comm.recv(None, source, 0),
        lambda: comm.sendrecv(obj, 0, 0, None, 0, 0),
    )  # fmt: skip


def _timer(
    comm: Any, send: Callable[[int], Any], recv: Callable[[int], Any], to_itself: Callable[[], Any]
) -> Callable[[], float]:
    """Return a function that makes a round trip between ranks 0 and 1, and returns half of its time."""
    rank, size = comm.Get_rank(), comm.Get_size()

    def half_trip() -> float:
        start = MPI.Wtime()
        if size == 1:
            to_itself()
            to_itself()
        elif rank == 0:
            send(1)
            recv(1)
        elif rank == 1:
            recv(0)
            send(0)
        return (MPI.Wtime() - start) / 2

    return half_trip


def futures(comm: MPI.Intracomm, args: Sequence[str] | None = None, verbose: bool = True) -> list[tuple[int, float, float]]:
    """Measure tasks that return their argument; return (bytes, mean, standard deviation) of a round, for each size."""
    parser = _parser(
        "futures", verbose, ("-t --num-tasks", 50, "tasks for each worker"),
        ("-m --min-size", 0, "bytes of the smallest task"),
        ("-n --max-size", 1 << 20, "bytes of the largest task"), ("-c --chunksize", 1, "calls in a task"),
        ("-s --skip", 1, "warm-up rounds"), ("-l --loop", 10, "measured rounds"),
        ("--skip-large", 1, "warm-up rounds of large tasks"), ("--loop-large", 5, "measured rounds of large tasks"),
        ("--large-size", 1 << 16, "bytes above which tasks are large"), ("--skip-huge", 1, "warm-up rounds of huge tasks"),
        ("--loop-huge", 3, "measured rounds of huge tasks"), ("--huge-size", 1 << 18, "bytes above which tasks are huge"),
    )  # fmt: skip
    parser.add_argument("-e", "--executor", choices=["mpi", "thread"], default="mpi", help="kind of workers")
    parser.add_argument("-w", "--num-workers", type=int, help="number of workers")
    parser.add_argument("-a", "--allocator", choices=["numpy", "bytes"], default="numpy", help="type of the task argument")
    parser.add_argument("-b", "--backoff", type=float, default=0.0, help="maximum polling interval in seconds")
    parser.add_argument("-o", "--outband", action="store_true", help="send buffers out of band (mpi4py.util.pkl5)")
    parser.add_argument("--no-header", action="store_false", dest="header", help="print no header")
    parser.add_argument("--no-stats", action="store_false", dest="stats", help="print only sizes and rates")
    options = parser.parse_args(args)
    executor: Any = (
        ThreadPoolExecutor(options.num_workers) if options.executor == "thread"
        else MPIPoolExecutor(options.num_workers, backoff=options.backoff, use_pkl5=options.outband)
    )  # fmt: skip
    results = []
    with executor:
        workers = executor._max_workers
        if options.header and options.verbose and comm.Get_rank() == 0:
            _print(f"# {type(executor).__name__} - {workers} workers, {options.num_tasks} tasks/worker")
            _print("# Size [B]  Tasks/s" + " | Time Mean [s] \u00b1 StdDev [s]  Samples" * options.stats)
        for nbytes, skip, loop in _rounds(options):
            argument = bytes(nbytes) if options.allocator == "bytes" else np.zeros(nbytes, np.uint8)
            data = [argument] * (workers * options.num_tasks)
            times = [_round_time(executor, data, options.chunksize) for _ in range(skip + loop)][skip:]
            average = mean(times) if times else float("nan")
            results.append((nbytes, average, stdev(times) if len(times) > 1 else 0.0))
            if options.verbose and comm.Get_rank() == 0:
                rate = len(data) / average if average else float("inf")
                numbers = f" | {average:.7e} \u00b1 {results[-1][2]:.4e} {loop:8d}" if options.stats else ""
                _print(f"{nbytes:10d}{rate:9.0f}{numbers}")
    return results


def _round_time(executor: Any, data: list[Any], chunksize: int) -> float:
    """Return the time of one task for each item of `data`."""
    start = MPI.Wtime()
    for _ in executor.map(_identity, data, chunksize=chunksize):
        pass
    return MPI.Wtime() - start


def _identity(value: Any) -> Any:
    """Return the argument; this is the function that workers execute."""
    return value


COMMANDS: dict[str, Callable[..., Any]] = {
    command.__name__: command for command in (helloworld, ringtest, pingpong, futures)
}


def main(args: Sequence[str] | None = None) -> None:
    """Run a command of `-m mpi4py.bench`."""
    parser = ArgumentParser(prog="mpi4py.bench", usage="%(prog)s [option ...] command [argument ...]")
    parser.add_argument("--threads", action="store_true", default=None, help="request thread support")
    parser.add_argument("--no-threads", action="store_false", dest="threads", default=None, help="request no threads")
    parser.add_argument("--thread-level", choices=list(LEVELS), help="requested thread level")
    parser.add_argument("command", help=", ".join(COMMANDS))
    parser.add_argument("args", nargs=REMAINDER, help="arguments of the command; -h lists them")
    options = parser.parse_args(args)
    requested = {name: getattr(options, name) for name in ("threads", "thread_level") if getattr(options, name) is not None}
    Rc(**requested)
    apply_options(running_process())
    comm = MPI.COMM_WORLD
    if options.command not in COMMANDS:
        if comm.Get_rank() == 0:
            parser.error(f"unknown command {options.command!r}; choose one of {', '.join(COMMANDS)}.")
        parser.exit(2)
    COMMANDS[options.command](comm, options.args)
    parser.exit()


if __name__ == "__main__":
    main()
