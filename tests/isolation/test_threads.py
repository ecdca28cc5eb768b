"""Threads that a rank starts belong to it: they print as the rank does, and the rank waits for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.isolation.harness import Capture, play


def test_a_thread_prints_like_its_rank_and_is_joined(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Even while other ranks run; the main thread of a rank is known to be one."""
    script = """
    import threading
    go = threading.Event()
    seen = []
    def work():
        seen.append(MPI.Is_thread_main())
        print("thread of", comm.rank)
        go.wait()
        print("end of", comm.rank)
    helper = threading.Thread(target=work)
    helper.start()
    comm.Barrier()
    assert MPI.Is_thread_main()
    go.set()
    while not seen:
        pass
    assert seen == [False]
    """
    assert play(tmp_path, script, 3, backend, label="[{rank}] ").returns == [0, 0, 0]
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == sorted(f"[{rank}] {what} of {rank}" for rank in range(3) for what in ("thread", "end"))


def test_daemon_threads_are_not_joined(tmp_path: Path, backend: Any) -> None:
    """They may be endless."""
    script = """
    import threading
    stop = threading.Event()
    threading.Thread(target=stop.wait, args=(5,), daemon=True).start()
    """
    assert play(tmp_path, script, 2, backend).returns == [0, 0]
