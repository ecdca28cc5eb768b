"""Start the agent of `fakempi watch` in a Python process, then run the user's own `sitecustomize`.

`fakempi watch` puts this directory first on PYTHONPATH, so that Python imports this file when it starts. fakempi may be
installed for another Python than the program's: this directory imports the standard library only, and not fakempi.
"""

import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    package = type(sys)("_fakempi_watch")
    package.__path__ = [here]
    sys.modules["_fakempi_watch"] = package
    agent = __import__("_fakempi_watch.agent", fromlist=["start"])
    agent.start(os.environ)


def _run_own_sitecustomize() -> None:
    """Import the next `sitecustomize` on the path, as Python would have done without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != here]
    this = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if this is not None:
            sys.modules.setdefault("sitecustomize", this)


if "FAKEMPI_WATCH" in os.environ:
    try:
        _start()
    except Exception as error:  # the program runs without the watch
        if os.environ.get("FAKEMPI_WATCH_DEBUG"):
            sys.stderr.write(f"fakempi watch: the agent of process {os.getpid()} did not start: {error!r}\n")
_run_own_sitecustomize()
