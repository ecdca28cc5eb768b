"""Each rank has its own settings of the process: the tables in docs/run_a_script.md, row by row."""

from __future__ import annotations

import builtins
import gc
import json
import locale
import os
import signal
import socket
import sys
import threading
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import fakempi
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram
from tests.isolation.harness import COMM, Capture, play
from tests.isolation.test_installed import Install, install

__all__ = ["install"]

PAGE = Path(__file__).parents[2] / "docs" / "run_a_script.md"


class Row(NamedTuple):
    """A row of a table: statements that set a value, which depends on the rank `r`, and an expression that reads it."""

    set: str
    read: str


OWN = {
    "working directory": Row("import os; os.chdir(['/', '/usr', '/dev'][r])", "os.getcwd()"),
    "environment variables": Row("os.environ['FAKEMPI_TEST_SETTING'] = str(r)", "os.environ['FAKEMPI_TEST_SETTING']"),
    "generators of `random` and `numpy.random`": Row(
        "import random, numpy as np; random.seed(r); np.random.seed(r)", "random.getstate(), repr(np.random.get_state())"
    ),
    "names in `builtins`": Row(
        "import builtins; builtins.RANK = r; builtins.ascii = lambda value: r; vars(builtins)['OTHER'] = r",
        "RANK, OTHER, ascii(1), builtins.ascii(1), __builtins__.RANK",
    ),
    "modules that the program puts into `sys.modules`": Row(
        "import types; sys.modules['made'] = types.ModuleType('made'); sys.modules['made'].rank = r",
        "sys.modules['made'].rank",
    ),
    "attributes of shared modules": Row(
        "import json, os.path; json.dumps = lambda x: r; os.path.new = r; np.RANK = r; json.deleted = 1; del json.deleted",
        "json.dumps(1), os.path.new, np.RANK, hasattr(json, 'deleted')",
    ),
    "`sys.argv`, `sys.path`, `sys.stdout` and other attributes of `sys`": Row(
        "import sys; sys.argv = r; sys.path = [r, *sys.path[-9:]]; sys.displayhook = r; sys.tracebacklimit = r; sys.new = r",
        "sys.argv, sys.path[0], sys.displayhook, sys.tracebacklimit, sys.new, sys.meta_path is not None",
    ),
    "`sys.setrecursionlimit`, `setswitchinterval`, `set_int_max_str_digits`, `setdlopenflags`": Row(
        "sys.setrecursionlimit(3000 + r); sys.setswitchinterval(0.25 + r); sys.setdlopenflags([1, 2, 257][r])\n"
        "if hasattr(sys, 'set_int_max_str_digits'): sys.set_int_max_str_digits(1000 + r)",
        "sys.getrecursionlimit(), sys.getswitchinterval(), getattr(sys, 'get_int_max_str_digits', lambda: 0)(),"
        "sys.getdlopenflags()",
    ),
    "`os.umask`": Row("os.umask(0o20 + r)", "umask(), umask()"),
    "time zone (`time.tzset`)": Row(
        "import time; os.environ['TZ'] = f'ABC{r + 3}'; time.tzset()",
        "time.timezone, time.localtime(0).tm_hour, time.tzname",
    ),
    "`locale.setlocale`": Row(
        "import locale; locale.setlocale(locale.LC_CTYPE, ['C', CTYPE, 'C'][r])", "locale.setlocale(locale.LC_CTYPE)"
    ),
    "warning filters, `warnings.showwarning`": Row(
        "import warnings; warnings.filterwarnings('ignore', message=f'rank {r}')\n"
        "warnings.showwarning = lambda *a, rank=r: None",
        "warnings.filters[0][1].pattern, warnings.showwarning.__defaults__",
    ),
    "loggers, `logging.basicConfig`, `addLevelName`, `captureWarnings`, `setLoggerClass`, `setLogRecordFactory`": Row(
        "import logging; logging.basicConfig(level=10 + r, format=f'{r} %(message)s'); logging.addLevelName(10, f'L{r}')\n"
        "Own = type(f'Own{r}', (logging.Logger,), {}); logging.setLoggerClass(Own); logging.disable(r)\n"
        "logging.getLogger('kit').setLevel(30 + r); logging.setLogRecordFactory(lambda *a, **k: r)",
        "logging.getLevelName(10), logging.root.level, logging.root.handlers[0].formatter._fmt, len(logging.root.handlers),"
        "logging.getLoggerClass().__name__, logging.getLogger('kit').level, logging.getLogRecordFactory()(), "
        "logging.root.manager.disable",
    ),
    "signal handlers": Row(
        "import signal; got = []; signal.signal(signal.SIGUSR1, lambda *a: got.append(r))\n"
        "if r == 1: signal.signal(signal.SIGUSR2, signal.SIG_IGN)",
        "got.clear(), signal.getsignal(signal.SIGUSR1)(0, None), os.kill(os.getpid(), signal.SIGUSR1), "
        "signal.raise_signal(signal.SIGUSR1), got * 1, signal.getsignal(signal.SIGUSR2) == signal.SIG_IGN",
    ),
    "soft limits (`resource.setrlimit`)": Row(
        "import resource; n = resource.RLIMIT_NOFILE; resource.setrlimit(n, (900 + r, resource.getrlimit(n)[1]))",
        "resource.getrlimit(n)",
    ),
    "`gc.disable`, `gc.set_threshold`, `gc.set_debug`": Row(
        "import gc; gc.set_threshold(1000 + r); (gc.enable if r else gc.disable)(); gc.set_debug(0)",
        "gc.isenabled(), gc.get_threshold()[0], gc.get_debug()",
    ),
    "`socket.setdefaulttimeout`": Row("import socket; socket.setdefaulttimeout(r + 1)", "socket.getdefaulttimeout()"),
    "csv dialects, `csv.field_size_limit`": Row(
        "import csv; csv.register_dialect('own', delimiter='abc'[r]); csv.register_dialect(f'r{r}')\n"
        "csv.field_size_limit(9 + r)\n"
        "if r == 2: csv.unregister_dialect('excel-tab')",
        "sorted(csv.list_dialects()), csv.get_dialect('own').delimiter, csv.field_size_limit()",
    ),
    "`tempfile.tempdir`": Row(
        "import tempfile; os.makedirs(f'{here}/t{r}', exist_ok=True); os.environ['TMPDIR'] = f'{here}/t{r}'\n"
        "tempfile.tempdir = None; tempfile.gettempdir()",
        "tempfile.gettempdir(), tempfile.tempdir",
    ),
    "name of the main thread": Row(
        "import threading; threading.current_thread().name = f'rank {r}'",
        "threading.current_thread().name, threading.main_thread() is threading.current_thread()",
    ),
    "`threading.settrace`, `setprofile`, `excepthook`, `stack_size`": Row(
        "def hook(*a): pass\n"
        "threading.settrace(hook); threading.setprofile(hook); threading.excepthook = r\n"
        "threading.stack_size(2**16 * (r + 1))",
        "threading._trace_hook is hook, threading._profile_hook is hook, threading.excepthook, "
        "threading.stack_size(2**16 * (r + 1))",
    ),
    "start method of `multiprocessing`, `set_executable`, numbers in names of its processes": Row(
        "import multiprocessing; multiprocessing.set_start_method(['spawn', 'fork', 'spawn'][r])\n"
        "multiprocessing.set_executable(f'python{r}')",
        "multiprocessing.get_start_method(), multiprocessing.get_context()._name, multiprocessing.spawn.get_executable()",
    ),
    "policy of `asyncio`": Row(
        "import asyncio, warnings\n"
        "with warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore')\n"
        "    class Policy(asyncio.DefaultEventLoopPolicy): number = r\n"
        "    asyncio.set_event_loop_policy(Policy())",
        "asyncio.events._event_loop_policy.number",
    ),
    "types of `mimetypes`": Row(
        "import mimetypes; mimetypes.guess_type('a.txt'); mimetypes.add_type(f'x/r{r}', '.rank')",
        "mimetypes.guess_type('a.rank'), mimetypes.types_map['.rank']",
    ),
    "`gettext.install`, `textdomain`, `bindtextdomain`": Row(
        "import gettext; gettext.textdomain(f'd{r}'); gettext.bindtextdomain('d', f'/{r}')\n"
        "class T(gettext.NullTranslations):\n    def gettext(self, text): return f'{text}{r}'\n"
        "T().install()",
        "gettext.textdomain(), gettext.bindtextdomain('d'), _('text')",
    ),
    "`calendar.setfirstweekday`, `fileinput.input`, formats of `shutil`, namespaces of `xml.etree`, opener of `urllib`, "
    "`zoneinfo.reset_tzpath`": Row(
        "import calendar, fileinput, shutil, urllib.request, xml.etree.ElementTree as E\n"
        "calendar.setfirstweekday(r + 1); fileinput.input([__file__]); shutil.register_archive_format(f'f{r}', print)\n"
        "shutil.register_unpack_format(f'f{r}', [f'.f{r}'], print); urllib.request.install_opener(r)\n"
        "E.register_namespace(f'p{r}', 'uri'); import zoneinfo; zoneinfo.reset_tzpath([f'/zones{r}'])",
        "calendar.firstweekday(), [f for f, _ in shutil.get_archive_formats()], E._namespace_map['uri'],"
        "[f for f, *_ in shutil.get_unpack_formats()], urllib.request._opener, fileinput.lineno(),"
        "zoneinfo.TZPATH",
    ),
    "contexts of `decimal`, context variables, `numpy.seterr`, `numpy.set_printoptions`": Row(
        "import decimal, contextvars; decimal.getcontext().prec = 5 + r; np.set_printoptions(precision=2 + r)\n"
        "np.seterr(divide=['ignore', 'warn', 'raise'][r])\n"
        "variable = contextvars.ContextVar('v'); variable.set(r)",
        "decimal.getcontext().prec, variable.get(), np.get_printoptions()['precision'], np.geterr()['divide']",
    ),
}
"""The table of settings of which each rank has its own."""

SHARED = {
    "attributes of classes, contents of objects": Row(
        "json.JSONEncoder.rank = r; linecache.cache['rank'] = r",
        "getattr(json.JSONEncoder, 'rank', 0), linecache.cache.get('rank', 0)",
    ),
    "codecs, error handlers, `copyreg`, adapters of `sqlite3`, `email.charset`, `webbrowser.register`, "
    "flags of `doctest`": Row(
        "search = lambda name: codecs.lookup('utf-8') if name == 'rank_codec' else None\ncodecs.register(search)",
        "has_codec()",
    ),
    "`sys.path_hooks`, `sys.addaudithook`": Row("sys.path_hooks.append(r)", "sys.path_hooks[-1] == 1"),
    "`faulthandler`, `tracemalloc`, `gc.freeze`, `readline`, `locale.textdomain` and `bindtextdomain`, "
    "`signal.set_wakeup_fd`": Row("tracemalloc.start()", "tracemalloc.is_tracing()"),
}
"""The table of settings that ranks share."""

BY_THREAD = {
    "`sys.settrace`, `sys.setprofile`, profilers, masks of signals, `sys.set_asyncgen_hooks`, "
    "`set_coroutine_origin_tracking_depth`, `ctypes.set_errno`": Row(
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})", "bool(signal.pthread_sigmask(0, ()))"
    )
}
"""The settings of an OS thread, which ranks on greenlets share."""

REPORTED = {
    "`os.nice`, `setpriority`, `sched_setaffinity`, `sched_setscheduler`": (
        "os.nice(0)", "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    ),
    "`os.chroot`, `setuid`, `setgid` and similar, `setsid`, `setpgid`": ("os.setuid(os.getuid())", "os.setgid(os.getgid())"),
    "`signal.alarm`, `signal.setitimer`": ("signal.alarm(0)", "signal.setitimer(signal.ITIMER_REAL, 0)"),
}  # fmt: skip
"""The table of calls that are reported, with examples."""

PRELUDE = """
import codecs, json, linecache, locale, os, signal, sys, tracemalloc
import numpy as np

r, here = comm.rank, os.path.dirname(os.path.abspath(__file__))

def umask():
    with open(f"{here}/file{r}", "w"):
        pass
    mode = os.stat(f"{here}/file{r}").st_mode & 0o777
    os.remove(f"{here}/file{r}")
    return mode

def usable(name):
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_CTYPE, before)
    return True

def has_codec():
    import codecs
    try:
        return bool(codecs.lookup("rank_codec"))
    except LookupError:
        return False

CTYPE = next(filter(usable, ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8", "C")))
"""


def rows(kind: str) -> list[str]:
    """Return the first column of the table after a comment in the page."""
    text = PAGE.read_text(encoding="utf-8").partition(f"<!-- {kind} -->")[2].partition("\n\n")[0]
    return [line.split("|")[1].strip() for line in text.strip().splitlines()[2:]]


@pytest.mark.parametrize(("kind", "table"), [("own", OWN), ("shared", {**SHARED, **BY_THREAD}), ("reported", REPORTED)])
def test_every_row_of_the_page_is_tested(kind: str, table: dict[str, Any]) -> None:
    """The page has the same rows as the tables here."""
    assert rows(f"settings: {kind}") == list(table)


def script_of(table: dict[str, Row], condition: str = "True") -> str:
    """Return a script that executes all rows, where the condition holds, and then reads each value twice."""
    text = PRELUDE
    for row in table.values():
        block = "\n".join(f"    {line}" for line in row.set.splitlines())
        text += f"if {condition}:\n{block}\ncomm.Barrier()\n"
    text += f"reads = [{', '.join(f'lambda: ({row.read},)' for row in table.values())}]\n"
    return text + "first = [repr(read()) for read in reads]\ncomm.Barrier()\n"


def run_script(tmp_path: Path, script: str, how: Any) -> None:
    """Run on three ranks: `how` is a backend or "processes"."""
    (tmp_path / "work.py").write_text(COMM + script, encoding="utf-8")
    command = [str(tmp_path / "work.py")]
    if how == "processes":
        fakempi.run(ProcessProgram(command), 3)
    else:
        fakempi.run(Program(command), 3, backend=how)


def check_own(tmp_path: Path, how: str) -> None:
    """Each rank sets every row; after others have run it reads what it has set."""
    script = script_of(OWN).replace("comm.Barrier()\n", "").replace("\nfirst =", "\ncomm.Barrier()\nfirst =")
    script += "again = [repr(read()) for read in reads]\n"
    script += "assert again == first, [pair for pair in zip(first, again) if pair[0] != pair[1]]\n"
    script += "found = comm.gather(first)\n"
    script += "if r == 0:\n    with open(f'{here}/found', 'w') as file:\n        file.write(repr(found))\n"
    run_script(tmp_path, script, how)
    found = eval((tmp_path / "found").read_text())
    for name, *values in zip(OWN, *found, strict=True):
        assert len(set(values)) > 1, (name, values)


def test_each_rank_has_its_own_settings(tmp_path: Path, backend: Any) -> None:
    """Every row."""
    before = settings()
    check_own(tmp_path, backend)
    assert settings() == before


def test_values_that_ranks_share(tmp_path: Path, backend: Any) -> None:
    """One rank sets every row, and all read it. Settings of a thread are shared on greenlets only."""
    check_shared(tmp_path, backend, "all")
    check_shared(tmp_path, backend, "all" if backend == "greenlets" else "own", BY_THREAD)


@pytest.mark.slow
@pytest.mark.sample
def test_processes_share_none_of_the_settings(tmp_path: Path) -> None:
    """Not those that ranks share in one process, and not the others."""
    check_own(tmp_path, "processes")
    check_shared(tmp_path, "processes", "own", {**SHARED, **BY_THREAD})


def check_shared(tmp_path: Path, how: str, expected: str, table: dict[str, Row] = SHARED) -> None:
    """Rank 1 sets every row; all ranks read it if `expected` is "all", only rank 1 if "own"."""
    script = script_of(table, "r == 1") + CLEANUP
    script += f"assert all((value != empty[i]) == ({expected == 'all'} or r == 1) for i, value in enumerate(first)), first\n"
    reads = ", ".join(f"lambda: ({row.read},)" for row in table.values())
    script = script.replace("CTYPE =", f"empty = [repr(read()) for read in [{reads}]]; comm.Barrier()\nCTYPE =", 1)
    run_script(tmp_path, script, how)


CLEANUP = """
if r == 1:
    if "search" in globals():
        codecs.unregister(search)
        sys.path_hooks.pop()
        tracemalloc.stop()
        del json.JSONEncoder.rank, linecache.cache["rank"]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
"""


def test_calls_that_apply_to_all_ranks_are_reported(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Once, with the line; not if there is only one rank."""
    calls = [call for row in REPORTED.values() for call in row if "sched_" not in call or hasattr(os, "sched_setaffinity")]
    script = "import os, signal\nfor _ in range(2):\n" + "".join(f"    if comm.rank == 1: {call}\n" for call in calls)
    run_script(tmp_path, script, backend)
    expected = [
        f"fakempi: rank 1 calls {call.partition('(')[0]} (work.py:{5 + i}), which applies to all ranks, because they share "
        "a process. fakempi run --processes gives each rank a process."
        for i, call in enumerate(calls)
    ]
    assert capsys.readouterr().err.splitlines() == expected
    fakempi.run(Program([str(tmp_path / "work.py")]), 1)
    assert capsys.readouterr().err == ""


def test_a_profiler_of_greenlets_is_reported(tmp_path: Path, capsys: Capture) -> None:
    """It measures all ranks, which share an OS thread."""
    run_script(tmp_path, "import cProfile\nprofile = cProfile.Profile()\nprofile.enable()\nprofile.disable()\n", "greenlets")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fakempi: rank 0 calls cProfile.Profile.enable (work.py:5), which applies to all ranks")


def settings() -> list[Any]:
    """Return the values that the rows change."""
    import calendar
    import csv
    import logging
    import mimetypes
    import multiprocessing
    import resource
    import shutil
    import tempfile

    mask = os.umask(0)
    os.umask(mask)
    values = [os.getcwd(), dict(os.environ), {k: id(v) for k, v in vars(builtins).items()}, json.dumps, mask]
    values += [sys.displayhook, sys.getrecursionlimit(), sys.getswitchinterval(), time.tzname, time.localtime(0).tm_hour]
    values += [hasattr(sys, "tracebacklimit"), locale.setlocale(locale.LC_ALL), list(warnings.filters), warnings.showwarning]
    values += [logging.getLevelName(10), logging.getLoggerClass(), logging.getLogRecordFactory(), logging.root.handlers[:]]
    values += [signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGUSR2)]
    values += [resource.getrlimit(resource.RLIMIT_NOFILE)]
    values += [gc.isenabled(), gc.get_threshold(), socket.getdefaulttimeout(), sorted(csv.list_dialects())]
    values += [csv.field_size_limit(), tempfile.tempdir, threading.main_thread().name, threading.excepthook]
    values += [threading.stack_size(), vars(multiprocessing.context._default_context)["_actual_context"]]
    values += [mimetypes.guess_type("a.rank"), calendar.firstweekday(), shutil.get_archive_formats()]
    values += [ModuleType.__setattr__, os.umask, signal.signal, threading.current_thread]
    return values


def test_a_rank_that_silences_print_does_not_silence_others(
    tmp_path: Path, install: Install, backend: Any, capsys: Capture
) -> None:
    """In its script, in modules next to it, and in shared packages, which call the shared `builtins`."""
    install({"shared.py": "def say(text): print('shared', text)\n"})
    script = """
    import builtins, shared, own
    if comm.rank != 1: builtins.print = lambda *a, **k: None
    comm.Barrier()
    print("script", comm.rank)
    shared.say(comm.rank)
    comm.Barrier()
    own.say(comm.rank)
    """
    for how in ("builtins", "__builtins__"):
        play(tmp_path, script.replace("builtins.print", f"{how}.print"), 3, backend,
             siblings={"own.py": "def say(text): print('own', text)\n"})  # fmt: skip
        assert capsys.readouterr().out.splitlines() == ["script 1", "shared 1", "own 1"]


def test_names_that_a_module_adds_to_the_dictionary_of_builtins_are_private(tmp_path: Path, backend: Any) -> None:
    """In imported modules, `__builtins__` is this dictionary. A profiler is often made optional in this way."""
    script = """
    import own
    comm.Barrier()
    assert ADDED == comm.rank and ("ONE" in dir(__builtins__)) == (comm.rank == 1), ADDED
    """
    own = "__builtins__['ADDED'] = comm.rank\nif comm.rank == 1: __builtins__['ONE'] = 1\ncomm.Barrier()\n"
    play(tmp_path, script, 3, backend, siblings={"own.py": own})
    assert not hasattr(builtins, "ADDED")


def test_patches_of_overlapping_tests_are_undone(tmp_path: Path, backend: Any) -> None:
    """`unittest.mock` restores what it has found: on a shared attribute, the last one would restore a mock."""
    script = """
    import json, time
    from unittest import mock
    before = json.dumps
    with mock.patch("json.dumps", lambda value: comm.rank), mock.patch("numpy.extra", comm.rank, create=True):
        comm.Barrier()
        import numpy
        assert json.dumps(0) == numpy.extra == comm.rank
        comm.recv(source=comm.rank - 1) if comm.rank else None
    if comm.rank + 1 < comm.size:
        comm.send(None, comm.rank + 1)
    assert json.dumps is before and not hasattr(numpy, 'extra')
    """
    before = json.dumps
    play(tmp_path, script, 3, backend)
    assert json.dumps is before


def test_warnings_are_recorded_by_their_rank(tmp_path: Path, backend: Any) -> None:
    """`catch_warnings` sets attributes of its own module, and restores them."""
    script = """
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore" if comm.rank == 1 else "always")
        comm.Barrier()
        warnings.warn(f"rank {comm.rank}")
        comm.Barrier()
    assert [str(one.message) for one in caught] == ([] if comm.rank == 1 else [f"rank {comm.rank}"])
    """
    before = warnings.filters, warnings._showwarnmsg_impl  # type: ignore[attr-defined]  # private in warnings
    play(tmp_path, script, 3, backend)
    assert (warnings.filters, warnings._showwarnmsg_impl) == before  # type: ignore[attr-defined]  # private in warnings


def test_a_shared_package_changes_settings_for_all_ranks_when_it_is_imported(
    tmp_path: Path, install: Install, backend: Any
) -> None:
    """Only one rank executes the import. Later the package changes the library for one rank, and its own modules for all."""
    install({"kit/__init__.py": """
        import builtins, json, socket, sys, warnings
        from . import part
        json.dumps = lambda value: "kit"
        builtins.KIT = 1
        socket.setdefaulttimeout(7)
        warnings.filterwarnings("ignore", message="kit")
        def change(value):
            json.loads = value
            part.state = value
        """, "kit/part.py": "state = None\n"})  # fmt: skip
    script = """
    import json, socket, sys, warnings
    if comm.rank == 2: json.dumps = lambda value: "rank 2"
    if comm.rank == 2: socket.setdefaulttimeout(2)
    comm.Barrier()
    if comm.rank == 0: import kit
    comm.Barrier()
    assert json.dumps(1) == ("rank 2" if comm.rank == 2 else "kit") and KIT == 1
    assert socket.getdefaulttimeout() == (2 if comm.rank == 2 else 7)
    assert any(entry[1] and entry[1].pattern == "kit" for entry in warnings.filters)
    import kit
    before = json.loads
    comm.Barrier()
    if comm.rank == 1: kit.change(1)
    comm.Barrier()
    assert kit.part.state == 1 and json.loads == (1 if comm.rank == 1 else before)
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json, "dumps", json.dumps)
        patched.setattr(builtins, "KIT", 0, raising=False)
        timeout = socket.getdefaulttimeout()
        play(tmp_path, script, 3, backend)
        socket.setdefaulttimeout(timeout)


def test_threads_of_a_rank_share_its_settings(tmp_path: Path, backend: Any) -> None:
    """A thread reads and changes the settings of its rank."""
    script = """
    import json, os, sys, threading
    def work():
        comm.sendrecv(None, (comm.rank + 1) % 3, source=(comm.rank - 1) % 3)
        seen.append((json.dumps, sys.getrecursionlimit()))
        json.dumps = -comm.rank
    json.dumps, seen = comm.rank, []
    sys.setrecursionlimit(2000 + comm.rank)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    comm.Barrier()
    assert seen == [(comm.rank, 2000 + comm.rank)] and json.dumps == -comm.rank
    """
    play(tmp_path, script, 3, backend)


def test_a_process_that_is_spawned_begins_with_the_original_settings(tmp_path: Path) -> None:
    """Its parent has changed them, and keeps its own."""
    (tmp_path / "child.py").write_text(COMM + "import json\nassert json.dumps(1) == '1'\njson.dumps = 2\n"
                                       "MPI.Comm.Get_parent().Barrier()\n")  # fmt: skip
    script = """
    import json, sys
    json.dumps = comm.rank
    child = MPI.COMM_SELF.Spawn(sys.executable, [sys.argv[0].replace("work.py", "child.py")])
    child.Barrier()
    assert json.dumps == comm.rank
    """
    play(tmp_path, script, 2)


def test_handlers_of_signals(tmp_path: Path, backend: Any) -> None:
    """Errors are Python's, handlers may raise, and a rank without a handler has that from before the run."""
    script = """
    import os, pytest, signal, threading
    from signal import SIGUSR1, SIGUSR2
    if not comm.rank:
        with pytest.raises(TypeError, match="signal handler must be"): signal.signal(SIGUSR1, "x")
        with pytest.raises(ValueError): signal.signal(4711, signal.SIG_DFL)
        with pytest.raises(OSError): signal.signal(signal.SIGKILL, signal.SIG_DFL)
        def fail(number, frame): raise KeyError(number, frame.f_code.co_name)
        assert signal.signal(SIGUSR1, fail) == signal.SIG_DFL
    comm.Barrier()
    assert signal.getsignal(SIGUSR1) == (signal.SIG_DFL if comm.rank else fail)
    if not comm.rank:
        with pytest.raises(KeyError): os.kill(os.getpid(), SIGUSR1)
        assert signal.signal(SIGUSR1, signal.SIG_IGN) is fail
        os.kill(os.getpid(), SIGUSR1)
        thread = threading.Thread(target=lambda: seen.append(pytest.raises(ValueError, signal.signal, SIGUSR1, fail)))
        seen = []
        thread.start()
        thread.join()
        assert len(seen) == 1
    signal.signal(SIGUSR2, signal.SIG_IGN)
    comm.Barrier()
    os.kill(os.getpid(), SIGUSR2)
    """
    play(tmp_path, script, 3, backend)
    assert signal.getsignal(signal.SIGUSR1) == signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL


def test_a_signal_from_another_process_calls_the_handler_of_the_running_rank(tmp_path: Path) -> None:
    """On greenlets. Another rank ignores it."""
    script = """
    import os, signal, subprocess, sys
    got = []
    signal.signal(signal.SIGUSR1, lambda *a: got.append(comm.rank) if comm.rank else signal.SIG_IGN)
    comm.Barrier()
    if comm.rank:
        subprocess.run([sys.executable, "-c", f"import os, signal; os.kill({os.getpid()}, signal.SIGUSR1)"], timeout=270)
    comm.Barrier()
    assert got == ([1] if comm.rank else [])
    """
    play(tmp_path, script, 2, "greenlets")


def test_a_restored_interpreter_notices_nothing(tmp_path: Path, backend: Any) -> None:
    """After a failure as well, and a class of modules that was made meanwhile works."""
    script = """
    import json, types, sys
    class Kind(types.ModuleType): pass
    json.kept = Kind("kept")
    json.JSONEncoder.kept = json.kept
    json.kept.value = 1
    comm.Barrier()
    1 / 0
    """
    before = settings()
    with pytest.raises(fakempi.RankError):
        play(tmp_path, script, 2, backend)
    assert settings() == before
    kept: Any = vars(json.JSONEncoder)["kept"]
    del json.JSONEncoder.kept  # type: ignore[attr-defined]  # set by the script
    kept.value = 2
    assert kept.value == 2
    del kept.value
    assert not hasattr(json, "kept")
