"""Clocks of the standard library agree with `time.sleep`, which takes modeled time, and still see real computing."""

from __future__ import annotations

import datetime
import time
import timeit
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.harness import Capture, play

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
    """Every name that is replaced while a script runs."""
    names = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
    functions = [getattr(time, name) for name in (*names, "localtime", "gmtime", "ctime", "asctime", "strftime")]
    kinds = [(datetime.datetime, "now"), (datetime.datetime, "utcnow"), (datetime.date, "today")]
    return [*functions, timeit.default_timer, *(vars(kind)[name] for kind, name in kinds)]


def test_a_modeled_sleep_has_the_same_length_on_every_clock(tmp_path: Path, backend: Any) -> None:
    """For any way to import the clock, and on any rank; the date agrees, too."""
    script = (
        READINGS
        + """
before = read()
day = date.today()
time.sleep(100_000 * (comm.rank + 1))
assert all(after - reading >= 100_000 * (comm.rank + 1) - 1 for reading, after in zip(before, read()))
assert date.today() > day
"""
    )
    was = clocks()
    play(tmp_path, script, 2, backend)
    assert clocks() == was


def test_time_outs_expire(tmp_path: Path, backend: Any) -> None:
    """Loops that sleep end at once, and so do loops that only poll: this is not a livelock."""
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
    assert 9e5 <= play(tmp_path, script, 2, backend).time <= 1e6 + 102  # real time counts, too


def test_clocks_include_cpu_time(tmp_path: Path, backend: Any) -> None:
    """Scripts divide by the elapsed time."""
    script = """
    import time
    for clock in (time.time, time.monotonic, time.perf_counter, time.time_ns):
        start = clock()
        sum(range(10_000))
        assert 1 / (clock() - start) > 0
    """
    play(tmp_path, script, 2, backend)


def test_clocks_are_monotonic_and_consistent_with_messages(tmp_path: Path, backend: Any) -> None:
    """A time read before a send is not later than a time read after the receive."""
    script = """
    import time
    last = 0.0
    for k in range(20):
        time.sleep(comm.rank)
        mine = time.monotonic()
        assert mine >= last
        received = comm.sendrecv(mine, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        last = time.monotonic()
        assert last >= received and last >= mine
    """
    play(tmp_path, script, 3, backend)


def test_datetime_objects_keep_their_class(tmp_path: Path, backend: Any) -> None:
    """They are pickled, compared and subclassed as usual, and objects created before the run have the same class."""
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
    play(tmp_path, script, 2, backend)


def test_a_thread_of_a_rank_reads_the_clock_of_its_rank(tmp_path: Path, backend: Any) -> None:
    """It sleeps in modeled time, too, next to its rank."""
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
    play(tmp_path, script, 2, backend)


def test_conversions_of_given_times_are_unchanged(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Functions that take a time return the same as before."""
    script = """
    import time
    print(time.strftime("%Y", time.gmtime(0)), time.gmtime(0)[0], time.localtime(1e9)[0], time.asctime(time.gmtime(0)))
    """
    play(tmp_path, script, 1, backend)
    assert capsys.readouterr().out == "1970 1970 2001 Thu Jan  1 00:00:00 1970\n"


def test_the_time_limit_of_a_run_reads_the_real_clock(tmp_path: Path, backend: Any) -> None:
    """Although a rank of a script is the first to import it."""
    script = """
    import importlib, sys, time
    from fakempi.extensions import monitoring
    if comm.rank == 0:
        kept = sys.modules.pop("fakempi.extensions.monitoring.monitor", None)
        monitor = importlib.import_module("fakempi.extensions.monitoring.monitor")
        assert monitor.monotonic is time.monotonic.__wrapped__
        sys.modules["fakempi.extensions.monitoring.monitor"] = monitoring.monitor = kept or monitor
    """
    play(tmp_path, script, 2, backend)


def test_log_records_have_the_time_of_the_rank(tmp_path: Path, backend: Any) -> None:
    """Installed modules read the same clock, if they look it up when they need it."""
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
    play(tmp_path, script, 2, backend)


def test_clocks_outside_a_run_are_unchanged(tmp_path: Path, backend: Any) -> None:
    """After the run all clocks are the real ones, also those that a package has imported meanwhile."""
    taken: list[Any] = []
    timeit.__dict__["fakempi_test"] = taken
    try:
        play(tmp_path, "import time, timeit\ntime.sleep(1e6)\ntimeit.fakempi_test.append(time.time)", 1, backend)
    finally:
        del timeit.__dict__["fakempi_test"]
    assert taken[0]() == pytest.approx(time.time(), abs=1e5)
