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

GOAL has sizes but no buffers. A file that `write` produces also has comments that start with `// fakempi`: they give the
buffer ranges and local operations, so that reading it returns the same schedule. Other programs ignore them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from collectives.schedules import json_format
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal_operations import WAITS, RankOperations, read_rank
from collectives.schedules.goal_tokens import Tokens
from collectives.schedules.goal_writing import write as write
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Step

MAX_RANKS = 1 << 20


def read(text: str) -> Schedule:
    """Return the schedule of a GOAL text; InvalidScheduleError with line and column if it is invalid."""
    tokens = Tokens(text)
    ranks: list[RankOperations | None] = []
    while (token := tokens.take()).kind != "end":
        if token.text == "num_ranks":
            count = tokens.number("a number of ranks")
            if ranks or not 1 <= count <= MAX_RANKS:
                raise tokens.error(token.position, f"num_ranks must occur once, with a number from 1 to {MAX_RANKS}")
            ranks = [None] * count
        elif token.text == "rank":
            rank = tokens.number("the number of a rank")
            if not 0 <= rank < len(ranks) or ranks[rank] is not None:
                raise tokens.error(token.position, f"rank {rank} occurs twice, or is not below num_ranks")
            tokens.expect("{")
            ranks[rank] = read_rank(tokens, rank, len(ranks))
        else:
            raise tokens.error(token.position, f"expected `num_ranks N` or `rank R {{`, not {token}")
    if not ranks or None in ranks:
        raise InvalidScheduleError(f"the file has no {f'rank {ranks.index(None)}' if ranks else 'num_ranks'}")
    return _schedule(tokens, [rank for rank in ranks if rank is not None])


def _schedule(tokens: Tokens, ranks: Sequence[RankOperations]) -> Schedule:
    """Resolve labels and build the schedule."""
    all_steps: list[list[Step]] = []
    labels: dict[tuple[int, int], str] = {}
    for rank in ranks:
        waits: dict[str, list[list[int]]] = {kind: [[] for _ in rank.steps] for kind in WAITS}
        for each in rank.dependencies:
            for name in (each.operation, each.other):
                if isinstance(name, str) and name not in rank.labels:
                    raise tokens.error(each.position, f"rank {rank.number} has no label {name}")
            index = each.operation if isinstance(each.operation, int) else rank.labels[each.operation]
            waits[each.kind][index].append(rank.labels[each.other])
        triples = zip(rank.steps, *waits.values(), strict=True)
        all_steps.append([replace(step, after=tuple(a), after_start=tuple(b)) for step, a, b in triples])
        labels |= {(rank.number, index): label for label, index in rank.labels.items()}
    if tokens.header:
        empty = json_format.read(json.dumps(tokens.header | {"steps": [[] for _ in ranks]}))
        return replace(empty, steps=all_steps, labels=labels)
    return Schedule(len(ranks), all_steps, [{} for _ in ranks], labels=labels)
