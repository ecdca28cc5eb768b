"""Random numbers are private to each rank, and sleeping takes modeled time."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.isolation.harness import Capture, play


def test_seeds_are_private_to_each_rank(tmp_path: Path, backend: Any) -> None:
    """`random.seed(rank)` gives the same numbers as in a separate process, for any order of ranks."""
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
    play(tmp_path, script, 3, backend)


def test_unseeded_numbers_differ_by_rank_and_are_reproducible(tmp_path: Path, capsys: Capture) -> None:
    """Every run has the same numbers."""
    script = "import random, numpy\nprint(random.random(), numpy.random.rand())"
    outputs = []
    for backend in ("auto", "threads"):
        play(tmp_path, script, 4, backend)
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].split())) == 8


def test_the_random_state_of_the_caller_is_unchanged(tmp_path: Path, backend: Any) -> None:
    """By a run in between."""
    random.seed(1)
    np.random.seed(1)
    first = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    play(tmp_path, "import random, numpy\nrandom.seed(5)\nnumpy.random.seed(5)\nrandom.random()", 2, backend)
    assert (random.random(), np.random.rand()) == first


def test_sleeping_takes_only_modeled_time(tmp_path: Path, backend: Any) -> None:
    """A thousand years end at once."""
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
    assert play(tmp_path, script, 2, backend).time > 3e10
    assert time.sleep is before
