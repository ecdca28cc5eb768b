"""Random partitioned messages: partitions of both sides differ, and become ready in any order."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tests.real_mpi.random.observing import Op, Program, count_of

RANKS = 3
STYLES = ("each", "range", "list", "mixed")


def program(seed: int) -> Program:
    """One or two exchanges of one to three messages each."""
    rng = Random(f"partitions {seed}")
    ranks = rng.randint(2, RANKS)
    return {"ranks": ranks, "ops": [_exchange(rng, ranks) for _ in range(rng.randint(1, 2))]}


def _exchange(rng: Random, ranks: int) -> Op:
    messages = []
    for number in range(rng.randint(1, 3)):
        source, target = rng.sample(range(ranks), 2)
        sent, taken = rng.choice(((1, 1), (2, 2), (1, 2), (2, 1), (2, 4), (4, 2), (3, 6), (2, 3), (3, 2), (4, 3), (6, 4)))
        order = list(range(sent))
        rng.shuffle(order)
        messages.append(
            {
                "source": source,
                "target": target,
                "tag": number if rng.random() < 0.7 else 5,
                "sent": sent,
                "taken": taken,
                "elements": 12 * rng.choice((0, 1, 1, 3)),
                "type": rng.choice(("i4", "f8", "u1")),
                "style": rng.choice(STYLES),
                "order": order,
            }
        )
    return {
        "op": "exchange",
        "messages": messages,
        "rounds": rng.randint(1, 3),
        "startall": rng.random() < 0.5,
        "seed": rng.randrange(100),
    }


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """The data of each round, statuses, and whether each partition arrived."""
    return [_perform(MPI, comm, op, rank) for op in program["ops"]]


def _perform(MPI: Any, comm: Any, op: Op, rank: int) -> Any:
    sends, receives = [], []
    for message in op["messages"]:
        if rank == message["source"]:
            buffer = np.zeros(message["elements"], message["type"])
            sends.append((message, buffer, comm.Psend_init(buffer, message["sent"], message["target"], message["tag"])))
        if rank == message["target"]:
            buffer = np.zeros(message["elements"], message["type"])
            receives.append((message, buffer, comm.Precv_init(buffer, message["taken"], message["source"], message["tag"])))
    requests = [request for _, _, request in (*sends, *receives)]
    found: list[Any] = []
    for round_number in range(op["rounds"]):
        for message, buffer, _ in sends:
            buffer[:] = np.arange(message["elements"]) % 100 + op["seed"] + 10 * round_number + rank
        if op["startall"]:
            MPI.Prequest.Startall(requests)
        else:
            for request in requests:
                request.Start()
        for message, _, request in sends:
            _make_ready(request, message)
        statuses = [MPI.Status() for _ in requests]
        for request, status in zip(requests, statuses, strict=True):
            request.Wait(status)
        for (message, buffer, _request), status in zip(receives, statuses[len(sends) :], strict=True):
            datatype = {"i4": MPI.INT32_T, "f8": MPI.DOUBLE, "u1": MPI.UINT8_T}[message["type"]]
            found.append(
                [
                    buffer.tolist(),
                    status.Get_source(),
                    status.Get_tag(),
                    count_of(MPI, status, datatype),
                    status.Is_cancelled(),
                ]
            )
    for message, _, request in receives:
        found.append([request.Parrived(each) for each in range(message["taken"])])
    for request in requests:
        request.Free()
    comm.Barrier()
    return found


def _make_ready(request: Any, message: Op) -> None:
    order, style = message["order"], message["style"]
    if style == "range":
        request.Pready_range(0, message["sent"] - 1)
    elif style == "list":
        request.Pready_list(order)
    else:
        for each in order:
            if style == "mixed":
                request.Pready_range(each, each)
            else:
                request.Pready(each)
