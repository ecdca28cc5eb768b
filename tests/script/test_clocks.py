"""Clocks of the standard library agree with `time.sleep`, which takes modelled time, and still see real computing."""

from __future__ import annotations

import datetime
import time
import timeit
from pathlib import Path
from typing import Any

import pytest

from tests.script.harness import Capture, play

READINGS = """
import datetime, time, timeit
from datetime import date, datetime as Moment
from time import monotonic, time as now
def read():
    return [
        now(), time.time(), time.time_ns() / 10**9, monotonic(), time.monotonic_ns() / 10**9, time.perf_counter(),
        time.perf_counter_ns() / 10**9, timeit.default_timer(),
        Moment.now().timestamp(), datetime.datetime.today().timestamp(), Moment.now(datetime.timezone.utc).timestamp(),
        Moment.utcnow().timestamp(), time.mktime(time.localtime()) + 1, time.mktime(time.gmtime(None)) + 1,
        time.mktime(time.strptime(time.ctime())) + 1, time.mktime(time.strptime(time.asctime())) + 1,
        time.mktime(time.strptime(time.strftime("%c"), "%c")) + 1,
    ]
"""


def clocks() -> list[Any]:
    """All that is replaced while a script runs."""
    names = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
    functions = [getattr(time, name) for name in (*names, "localtime", "gmtime", "ctime", "asctime", "strftime")]
    kinds = [(datetime.datetime, "now"), (datetime.datetime, "utcnow"), (datetime.date, "today")]
    return [*functions, timeit.default_timer, *(vars(kind)[name] for kind, name in kinds)]


def test_a_modelled_sleep_is_as_long_to_every_clock(tmp_path: Path, carrier: str) -> None:
    """However they were imported, and on whichever rank; the date, too."""
    script = READINGS + """
before = read()
day = date.today()
time.sleep(100_000 * (comm.rank + 1))
assert all(after - reading >= 100_000 * (comm.rank + 1) - 1 for reading, after in zip(before, read()))
assert date.today() > day
"""
    was = clocks()
    play(tmp_path, script, 2, carrier)
    assert clocks() == was


def test_time_outs_end(tmp_path: Path, carrier: str) -> None:
    """Those who sleep in between, at once, and so do those who only poll: that is no livelock."""
    script = """
    import time
    deadline = time.monotonic() + 1e6
    while time.monotonic() < deadline:
        time.sleep(1e5)
    end = time.time() + 100
    while time.time() < end:
        assert not comm.Iprobe()
    comm.Barrier()
    """
    assert 9e5 <= play(tmp_path, script, 2, carrier).time <= 1e6 + 102  # real time counts, too


def test_computing_is_seen_by_the_clocks(tmp_path: Path, carrier: str) -> None:
    """Scripts divide by what has elapsed."""
    script = """
    import time
    for clock in (time.time, time.monotonic, time.perf_counter, time.time_ns):
        start = clock()
        sum(range(10_000))
        assert 1 / (clock() - start) > 0
    """
    play(tmp_path, script, 2, carrier)


def test_no_clock_goes_back_nor_is_behind_what_a_message_says(tmp_path: Path, carrier: str) -> None:
    """What was read before a message was sent is not later than what is read after it has come."""
    script = """
    import time
    last = 0.0
    for k in range(20):
        time.sleep(comm.rank)
        mine = time.monotonic()
        assert mine >= last
        told = comm.sendrecv(mine, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        last = time.monotonic()
        assert last >= told and last >= mine
    """
    play(tmp_path, script, 3, carrier)


def test_moments_keep_their_class(tmp_path: Path, carrier: str) -> None:
    """They are pickled, compared and subclassed as ever, and what was made before the run is of the same class."""
    script = """
    import datetime, pickle, warnings
    from datetime import datetime as Moment
    class Mine(Moment):
        pass
    moment = Moment.now()
    assert type(moment) is Moment is datetime.datetime and isinstance(moment, datetime.date)
    assert pickle.loads(pickle.dumps([Moment, moment])) == [Moment, moment]
    assert comm.bcast(moment, root=1).tzinfo is None and Moment.now(tz=datetime.timezone.utc).tzinfo is datetime.timezone.utc
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert {type(Mine.now()), type(Mine.utcnow()), type(Mine.today())} == {Mine}
    """
    play(tmp_path, script, 2, carrier)


def test_a_thread_of_a_rank_reads_the_clock_of_its_rank(tmp_path: Path, carrier: str) -> None:
    """It sleeps in modelled time, too, beside its rank."""
    script = """
    import threading, time
    time.sleep(1e6)
    readings = []
    def look():
        readings.append(time.time())
        time.sleep(1e6)
    helper = threading.Thread(target=look)
    helper.start()
    time.sleep(5e5)
    helper.join()
    assert 1e6 <= time.time() - readings[0] < 1e6 + 60 and MPI.Wtime() == 2e6
    """
    play(tmp_path, script, 2, carrier)


def test_time_given_is_not_now(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Functions of a time are what they were."""
    script = """
    import time
    print(time.strftime("%Y", time.gmtime(0)), time.gmtime(0)[0], time.localtime(1e9)[0], time.asctime(time.gmtime(0)))
    """
    play(tmp_path, script, 1, carrier)
    assert capsys.readouterr().out == "1970 1970 2001 Thu Jan  1 00:00:00 1970\n"


def test_a_runs_own_watch_reads_the_real_clock(tmp_path: Path, carrier: str) -> None:
    """Though a rank of a script is the first to import it."""
    script = """
    import importlib, sys, time
    if comm.rank == 0:
        kept = sys.modules.pop("fakempi.watch.watching", None)
        watching = importlib.import_module("fakempi.watch.watching")
        assert watching.monotonic is time.monotonic.__wrapped__
        sys.modules["fakempi.watch.watching"] = kept or watching
    """
    play(tmp_path, script, 2, carrier)


def test_log_records_have_the_ranks_time(tmp_path: Path, carrier: str) -> None:
    """Installed modules read the same clock, as far as they ask for it when they need it."""
    script = """
    import logging, time
    stamps = []
    class Keep(logging.Handler):
        def emit(self, record):
            stamps.append(record.created)
    logging.getLogger().addHandler(Keep())
    logging.warning("before")
    time.sleep(1e6)
    logging.warning("after")
    assert stamps[1] - stamps[0] >= 1e6
    """
    play(tmp_path, script, 2, carrier)


def test_time_stands_still_for_nobody_outside(tmp_path: Path, carrier: str) -> None:
    """After the run all clocks are the real ones, also those that a package has taken meanwhile."""
    taken: list[Any] = []
    timeit.__dict__["fakempi_test"] = taken
    try:
        play(tmp_path, "import time, timeit\ntime.sleep(1e6)\ntimeit.fakempi_test.append(time.time)", 1, carrier)
    finally:
        del timeit.__dict__["fakempi_test"]
    assert taken[0]() == pytest.approx(time.time(), abs=1e5)
