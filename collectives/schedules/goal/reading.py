"""Read GOAL: the ranks of a file, and the labels of their operations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from collectives.schedules import json_format
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal.operations import WAITS, RankOperations, read_rank
from collectives.schedules.goal.tokens import Tokens
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
