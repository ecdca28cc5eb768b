"""Random numbers are each rank's own, and sleeping takes virtual time."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np

from tests.script.harness import Capture, play


def test_seeds_are_each_ranks_own(tmp_path: Path, carrier: str) -> None:
    """`random.seed(rank)` gives what it gives in a process of its own, however ranks take turns."""
    script = """
    import random
    import numpy as np
    from random import random as draw, shuffle
    random.seed(comm.rank)
    np.random.seed(comm.rank)
    comm.Barrier()
    mine, numbers = random.Random(comm.rank), np.random.RandomState(comm.rank)
    for _ in range(3):
        assert random.random() == mine.random()
        comm.Barrier()
        assert draw() == mine.random() and random.randint(1, 99) == mine.randint(1, 99)
        assert np.random.rand() == numbers.rand() and (np.random.normal(size=3) == numbers.normal(size=3)).all()
    kept = random.getstate()
    a = random.random()
    comm.Barrier()
    random.setstate(kept)
    assert random.random() == a
    """
    play(tmp_path, script, 3, carrier)


def test_unseeded_numbers_differ_by_rank_and_are_the_same_in_each_run(tmp_path: Path, capsys: Capture) -> None:
    """Nothing is left to chance."""
    script = "import random, numpy\nprint(random.random(), numpy.random.rand())"
    outputs = []
    for carrier in ("auto", "threads"):
        play(tmp_path, script, 4, carrier)
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].split())) == 8


def test_the_callers_random_numbers_are_left_alone(tmp_path: Path, carrier: str) -> None:
    """A run in between changes nothing."""
    random.seed(1)
    np.random.seed(1)
    first = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    play(tmp_path, "import random, numpy\nrandom.seed(5)\nnumpy.random.seed(5)\nrandom.random()", 2, carrier)
    assert (random.random(), np.random.rand()) == first


def test_sleeping_takes_virtual_time_alone(tmp_path: Path, carrier: str) -> None:
    """A thousand years are over at once."""
    script = """
    from time import sleep
    import time
    sleep(3e10)
    time.sleep(comm.rank)
    assert MPI.Wtime() == 3e10 + comm.rank
    try:
        sleep(-1)
    except ValueError:
        comm.Barrier()
    """
    before = time.sleep
    assert play(tmp_path, script, 2, carrier).time > 3e10
    assert time.sleep is before
