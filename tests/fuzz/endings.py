"""Programs that do not end on their own, and how a process ends that is interrupted at a random moment of one of them.

The ranks of three programs in four catch every exception and go on. Each try is a process, since what is tested is that the
process ends: by Ctrl-C or a time limit, from the command line or from `fakempi.run`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic, sleep

ROOT = Path(__file__).parents[2]

SETUP = """
import itertools, queue, random, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

class Part:
    # What a rank repeats. `draw` gives all ranks the same numbers.
    def __init__(self, comm, kind, seed):
        self.comm, self.kind, self.draw = comm, kind, random.Random(seed)
        self.swallows = self.draw.random() < 0.75
        self.rank, self.size, self.threads = comm.Get_rank(), comm.Get_size(), {}
        self.lock, self.rlock, self.condition = threading.Lock(), threading.RLock(), threading.Condition()
        self.event, self.inbox, self.outbox = threading.Event(), queue.Queue(2), queue.SimpleQueue()

    def repeat(self, step):
        while True:
            try:
                step()
            except BaseException:
                if not self.swallows:
                    raise

    def barrier(self):
        self.comm.Barrier()

    def exchange(self):
        content = bytes(self.draw.choice([0, 100_000]))
        self.comm.sendrecv(content, (self.rank + 1) % self.size, source=(self.rank - 1) % self.size)

    def poll(self):
        for _ in range(20):
            self.comm.Iprobe()

    def compute(self):
        sum(i * i for i in range(3000))

    def sleep(self):
        time.sleep(self.draw.choice([0.001, 0.05, 30]))

    def collective(self):
        self.comm.allreduce(self.rank)
        self.comm.bcast(self.rank)
        self.comm.Ibarrier().Wait()

    def thread(self):
        threads = [threading.Thread(target=target) for target in (self.comm.Iprobe, self.compute)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def helped(self, step):
        # By a thread that goes on for as long as the rank does.
        if step not in self.threads:
            self.threads[step] = threading.Thread(target=self.repeat, args=(step,))
            self.threads[step].start()

    def locks(self):
        self.helped(self.locked)
        self.locked()

    def locked(self):
        with self.lock, self.rlock, self.rlock:
            self.comm.Iprobe()
            self.comm.sendrecv(1, self.rank, source=self.rank)

    def queues(self):
        self.helped(self.hand_on)
        self.inbox.put(1)
        self.comm.Iprobe()
        self.outbox.get()

    def hand_on(self):
        self.outbox.put(self.inbox.get())

    def conditions(self):
        self.helped(self.notify)
        with self.condition:
            self.condition.wait(0.001)
        self.event.wait(0.001)
        self.event.clear()

    def notify(self):
        with self.condition:
            self.condition.notify_all()
        self.event.set()
        self.comm.Iprobe()

    def pool(self):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: self.comm.Iprobe(), range(4)))

    def mixed(self):
        names = ["barrier", "exchange", "poll", "compute", "collective", "thread", "locks", "queues", "conditions", "pool"]
        getattr(self, self.draw.choice(names))()

    def run(self):
        if self.rank == 0:
            print("ready", flush=True)
        self.repeat(getattr(self, self.kind))

"""

KINDS = (
    "barrier", "exchange", "poll", "compute", "sleep", "collective", "thread", "locks", "queues", "conditions", "pool",
    "mixed",
)  # fmt: skip
"""What the ranks of a program do again and again."""

SCRIPT = """
from mpi4py import MPI
Part(MPI.COMM_WORLD, {kind!r}, {seed!r}).run()
"""

CALL = """
import fakempi

try:
    fakempi.run(lambda comm: Part(comm, {kind!r}, {seed!r}).run(), {nprocs!r}, carrier={carrier!r}, timeout={timeout!r})
except KeyboardInterrupt:
    code = 130
except fakempi.RunTimeout:
    code = 124
assert fakempi.run(lambda comm: comm.allreduce(1), 3, carrier={carrier!r}).returns == [3, 3, 3]
print("fakempi: interrupted at t = " if code == 130 else "fakempi: not done after ", file=sys.stderr)
sys.exit(code)
"""

HANDLER = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""A background job of a shell ignores Ctrl-C."""

HOW = ("command", "command limit", "run", "run limit")
"""Where the program is started from, and whether it is ended by a time limit or by Ctrl-C."""


@dataclass
class Ending:
    """How a process ended: after how many seconds, and what is wrong with that, if anything."""

    kind: str
    seed: int
    seconds: float
    wrong: str


def ending(
    kind: str, how: str, carrier: str, seed: int, folder: Path, patience: float, dump: Callable[[int], str] = str
) -> Ending:
    """Start a program, end it at a random moment, and see how that goes; a process that hangs is dumped and killed."""
    random = Random(f"{kind} {how} {carrier} {seed}")
    nprocs, moment = random.randint(1, 5), random.random() / 2
    by_limit = how.endswith("limit")
    if how.startswith("command"):
        (folder / "program.py").write_text(SETUP + SCRIPT.format(kind=kind, seed=seed), encoding="utf-8")
        limit = ["--timeout", str(moment + 0.01)] if by_limit else []
        command = ["run", "-n", str(nprocs), "--carrier", carrier, "--quiet", *limit, "program.py"]
        late = f"import fakempi.cli.watching as watching; watching.PATIENCE = {10 * patience}\n"  # it is not to be killed
        text = f"{HANDLER}{late}from fakempi.cli import main; import sys; sys.exit(main({command!r}))"
    else:
        call = CALL.format(
            kind=kind, seed=seed, nprocs=nprocs, carrier=carrier, timeout=moment + 0.01 if by_limit else None
        )
        text = HANDLER + SETUP + call
    (folder / "start.py").write_text(text, encoding="utf-8")
    with open(folder / "errors", "w", encoding="utf-8") as errors:
        child = subprocess.Popen(
            [sys.executable, "start.py"], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        try:
            assert child.stdout is not None
            ready = child.stdout.readline() == "ready\n"
            sleep(moment)
            began = monotonic()
            if not by_limit and ready:
                child.send_signal(signal.SIGINT)
            try:
                child.wait(patience)
                wrong = ""
            except subprocess.TimeoutExpired:
                wrong = f"it did not end in {patience:g} s\n{dump(child.pid)}"
            took = monotonic() - began
        finally:
            child.kill()
            child.communicate()
    said = (folder / "errors").read_text(encoding="utf-8")
    expected = (124, "fakempi: not done after ") if by_limit else (130, "fakempi: interrupted at t = ")
    if not wrong and (child.returncode != expected[0] or expected[1] not in said):
        wrong = f"it ended with code {child.returncode}"
    elif not wrong and "Traceback" in said:
        wrong = "it printed more than that"
    return Ending(kind, seed, took, f"{wrong}\n{said[-3000:]}" if wrong else "")
