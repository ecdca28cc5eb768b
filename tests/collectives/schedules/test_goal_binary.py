"""The binary form of GOAL: files that a writer of the test makes, and changed ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from struct import pack

import pytest

from collectives.schedules import InvalidScheduleError, Schedule, goal, load
from collectives.schedules.goal import read_binary
from fakempi.apps.cli import main
from tests.cli.test_running import Capture
from tests.collectives.schedules.units_oracle import random_units


def written(schedule: Schedule) -> bytes:
    """The file that LogGOPSim's txt2bin writes (Parser.hpp, serialize_mmap)."""
    parts = [b"".join(_part(schedule, rank)) for rank in range(schedule.ranks)]
    offset = 6 + 16 * schedule.ranks
    table = b""
    for part in parts:
        table += pack("<QQ", offset, offset + len(part))
        offset += len(part)
    units = max(step.cpu for _, _, step in schedule), max(step.nic for _, _, step in schedule)
    return pack("<QIBB", 4223, schedule.ranks, *units) + table + b"".join(parts)


def _part(schedule: Schedule, rank: int) -> Iterator[bytes]:
    steps = schedule.steps[rank]
    roots = [index for index, step in enumerate(steps) if not step.after and not step.after_start]
    yield pack(f"<II{len(roots)}I", len(steps), len(roots), *roots)
    waiting: list[int] = []
    for index, step in enumerate(steps):
        ends = [other for other, one in enumerate(steps) if index in one.after]
        starts = [other for other, one in enumerate(steps) if index in one.after_start]
        kind = {"send": 1, "recv": 2}.get(step.kind, 3)
        size = round(step.seconds * 1e9) if kind == 3 else step.nbytes  # a copy or a reduction takes no time
        places = len(ends), len(waiting), len(starts), len(waiting) + len(ends)
        unmet = len(step.after) + len(step.after_start)
        yield pack("<IBIQIBBIIII", unmet, kind, max(0, step.peer), size, step.tag, step.cpu, step.nic, *places)
        waiting += ends + starts
    yield pack(f"<{len(waiting)}I", *waiting)


@pytest.mark.parametrize("seed", range(10))
def test_a_binary_file_is_the_schedule_that_was_written(seed: int, tmp_path: Path) -> None:
    schedule = random_units(seed)
    for name in ("s.bin", "s.goal"):
        (tmp_path / name).write_bytes(written(schedule))
        read = load(tmp_path / name)
        assert [[str(step) for step in steps] for steps in read.steps] == [
            [str(step) for step in steps] for steps in schedule.steps
        ]
        assert [[(step.after, step.after_start, step.cpu) for step in steps] for steps in read.steps] == [
            [(step.after, step.after_start, step.cpu) for step in steps] for steps in schedule.steps
        ]


def test_the_command_reads_it_and_does_not_write_it(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "s.bin"
    path.write_bytes(written(random_units(3)))
    assert main(["schedule", "run", str(path)]) == 0
    assert main(["schedule", "export", str(path), "-o", str(tmp_path / "s.goal")]) == 0
    assert load(tmp_path / "s.goal").steps == load(path).steps
    assert main(["schedule", "export", str(path), "-o", str(tmp_path / "t.bin")]) == 2
    assert "binary GOAL is read, but not written" in capsys.readouterr().err


def test_changed_files_give_a_schedule_or_a_sentence_with_the_offset() -> None:
    data = written(random_units(5))
    random, sentences = Random(0), list[str]()
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(random.randint(1, 3)):
            changed[random.randrange(len(changed))] = random.choice((0, 1, 255, random.randrange(256)))
        if random.random() < 0.3:
            del changed[random.randrange(len(changed)) :]
        try:
            read_binary(bytes(changed))
        except InvalidScheduleError as error:
            sentences.append(str(error))
    assert len(sentences) > 100
    assert all(any(word in text for word in ("offset", "cycle", "4223", "rank")) for text in sentences)


@pytest.mark.parametrize(
    ("start", "value", "message"),
    [
        (0, b"\x01", "does not start with the number 4223"),
        (8, pack("<I", 10**9), "offset 8: the file is too short for 1,000,000,000 ranks"),
        (14, pack("<Q", 10**12), "offset 14: rank 0 ends at"),
        (62, b"\x07", "offset 58: operation 0 of rank 0 has the type 7"),
        (63, pack("<I", 0xFFFFFFFF), "offset 58: operation 0 of rank 0: wildcards are not supported"),
        (63, pack("<I", 9), "rank 9 does not exist, there are 2"),
        (67, pack("<Q", 10**16), r"the number 10,000,000,000,000,000 is too large"),
        (58, pack("<I", 3), "waits for 3 operations, but 0 have it in their lists"),
        (81, pack("<I", 10**9), "the lists of rank 0's operations that wait are not in the file"),
    ],
)
def test_wrong_numbers(start: int, value: bytes, message: str) -> None:
    """One send and a calculation after it; operations of rank 0 begin at offset 58."""
    text = "num_ranks 2 rank 0 { a: send 8b to 1 calc 5 requires a } rank 1 { recv 8b from 0 }"
    data = bytearray(written(goal.read(text)))
    read_binary(bytes(data))
    data[start : start + len(value)] = value
    with pytest.raises(InvalidScheduleError, match=message):
        read_binary(bytes(data))
