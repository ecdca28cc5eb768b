"""Rule files of Open MPI's component `tuned`, for coll_tuned_dynamic_rules_filename.

Classic text (releases up to 5): the number of collectives; for each collective its number and the count of communicator
sizes; for each communicator size the size and the count of rules; a rule is `bytes algorithm fan-out segment`. The last
entry whose size or bytes do not exceed those of the call applies (coll_tuned_dynamic_rules.c). With algorithm 0 Open MPI
decides. Text after # is a comment. `rule-file-version-2` is only needed for a fifth number in a rule, the limit of requests.

JSON (release 6): entries with ranges of communicator sizes and of bytes; the first that matches applies, and without a
match Open MPI decides (coll_tuned_dynamic_file.c).
"""

from __future__ import annotations

import json
from typing import Any, Final

from fakempi.apps.tune.choosing import Row, Rules

NUMBERS: Final = {
    "allgather": 0, "allreduce": 2, "alltoall": 3, "barrier": 6, "bcast": 7, "exscan": 8, "reduce": 11, "reduce_scatter": 12,
    "reduce_scatter_block": 13, "scan": 14,
}  # fmt: skip
"""The numbers of the collectives (coll_base_functions.h)."""


def classic(rules: Rules, about: str) -> str:
    """Return the rules as classic text, with `about` in comments at the top."""
    lines = [*(f"# {line}" for line in about.splitlines()), f"{len(rules.rows)} # collectives"]
    for operation, rows in rules.rows.items():
        lines += [f"{NUMBERS[operation]} # {operation}", f"{len(rows)} # communicator sizes"]
        for row in rows:
            lines += [f"{row.first} # ranks{_range(row)}", f"{len(row.cells)} # rules: bytes, algorithm, fan-out, segment"]
            lines += [f"{least} {pick.number} 0 {pick.segment} # {pick.name or 'default'}" for least, pick in row.cells]
    return "\n".join(lines) + "\n"


def _range(row: Row) -> str:
    return " and more" if row.last is None else "" if row.last == row.first else f" to {row.last}"


def as_json(rules: Rules, about: str) -> str:
    """Return the rules as JSON; `about` is in an entry that Open MPI ignores."""
    collectives: dict[str, list[dict[str, Any]]] = {}
    for operation, rows in rules.rows.items():
        collectives[operation] = [
            {"comm_size_min": row.first}
            | ({} if row.last is None else {"comm_size_max": row.last})
            | {"rules": [_rule(row, index) for index in range(len(row.cells))]}
            for row in rows
        ]
    content = {"rule_file_version": 3, "module": "tuned", "comment": about.splitlines(), "collectives": collectives}
    return json.dumps(content, indent=2) + "\n"


def _rule(row: Row, index: int) -> dict[str, Any]:
    least, pick = row.cells[index]
    after = row.cells[index + 1].least if index + 1 < len(row.cells) else None
    made: dict[str, Any] = {"msg_size_min": least}
    if after is not None:
        made["msg_size_max"] = after - 1
    made["alg"] = pick.name or "ignore"
    return made | ({"seg_size": pick.segment} if pick.segment else {})
