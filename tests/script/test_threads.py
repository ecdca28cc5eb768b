"""Threads that a rank starts belong to it: they print as it does, and it does not end before them."""

from __future__ import annotations

from pathlib import Path

from tests.script.harness import Capture, play


def test_a_thread_prints_as_its_rank_does_and_is_waited_for(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Even while others have the baton; the main thread of a rank knows that it is."""
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
    assert play(tmp_path, script, 3, carrier, label="[{rank}] ").returns == [0, 0, 0]
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == sorted(f"[{rank}] {what} of {rank}" for rank in range(3) for what in ("thread", "end"))


def test_nobody_waits_for_a_daemon(tmp_path: Path, carrier: str) -> None:
    """It may go on for ever."""
    script = """
    import threading
    stop = threading.Event()
    threading.Thread(target=stop.wait, args=(5,), daemon=True).start()
    """
    assert play(tmp_path, script, 2, carrier).returns == [0, 0]
