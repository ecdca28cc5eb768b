"""The cost of the backends alone: one switch in a ring of greenlets, one hand-off in a ring of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter


def greenlet_switch(ring: int, switches: int = 300_000, clock: Callable[[], float] = perf_counter) -> float:
    """Seconds for one switch in a ring of this number of greenlets."""
    from greenlet import getcurrent, greenlet

    rounds = max(2, switches // ring)
    hub = getcurrent()
    members: list[greenlet] = []

    def body(i: int) -> None:
        hub.switch()  # start every greenlet before the clock
        onward = members[(i + 1) % ring].switch
        for _ in range(rounds):
            onward()
        hub.switch()

    for i in range(ring):
        members.append(greenlet(body))
        members[i].switch(i)
    start = clock()
    members[0].switch()
    return (clock() - start) / (ring * rounds)


def thread_handoff(ring: int, handoffs: int = 20_000, clock: Callable[[], float] = perf_counter) -> float:
    """Seconds for one hand-off (release one lock, acquire another) in a ring of this number of threads."""
    rounds = max(2, handoffs // ring)
    turns = [threading.Lock() for _ in range(ring)]
    for turn in turns:
        turn.acquire()
    over = threading.Lock()
    over.acquire()

    def body(i: int) -> None:
        mine, next_turn = turns[i], turns[(i + 1) % ring]
        for _ in range(rounds):
            mine.acquire()
            next_turn.release()
        if i == ring - 1:
            over.release()

    before = threading.stack_size(512 * 1024)
    threads = [threading.Thread(target=body, args=(i,), daemon=True) for i in range(ring)]
    for thread in threads:
        thread.start()
    threading.stack_size(before)
    start = clock()
    turns[0].release()
    over.acquire()
    seconds = (clock() - start) / (ring * rounds)
    for thread in threads:
        thread.join()
    return seconds
