"""The limit of the messages of a case, which verification keeps in memory."""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.message_count import messages_above
from collectives.trials.cases import make_case

MAX_MESSAGES = 1 << 22
"""Messages of a case: 7 GB for `alltoallv`, whose cases have a count for each pair of ranks (1 KB per pair on 300 ranks)."""


def check_messages(algorithm: Algorithm, ranks: int) -> None:
    """Raise ValueError if a case on the largest number of ranks would need too much memory."""
    if ranks * ranks <= MAX_MESSAGES:
        return
    p, q = (ranks - ranks // 2, ranks // 2) if algorithm.kind == "inter" else (ranks, 0)
    case = make_case(algorithm.operation, p, q, 2 * p * q or p)
    if count := messages_above(algorithm, case, MAX_MESSAGES):
        raise ValueError(
            f"verify: {algorithm.operation} {algorithm.name} sends at least {count:,} messages on {ranks:,} ranks, more "
            f"than {MAX_MESSAGES:,}; use fewer ranks"
        )
