"""With only the required packages, all public names of a module can be imported, listed and documented."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.packages import needs

ROOT = Path(__file__).parents[2]

REQUIRED = {"fakempi", "collectives", "numpy", "rich", "tomli", *("markdown_it", "mdurl", "pygments")}
"""fakempi's packages, the packages that it requires, and those that rich requires."""

BLOCK = f"""
import sys

class Block:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if (package := name.partition(".")[0]) not in allowed:
            raise ModuleNotFoundError(f"No module named {{package!r}}", name=package)

allowed = {REQUIRED} | sys.stdlib_module_names
sys.meta_path.insert(0, Block)
"""


def without_optional_packages(program: str, before: str = "") -> str:
    """The output of a program that cannot import optional packages, except those that `before` has imported."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{before}\n{BLOCK}\n{program}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=270,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.mark.parametrize(
    ("module", "name"),
    [("fakempi", "run"), ("fakempi.MPI", "Get_version"), ("fakempi.compare", "sweep"), ("collectives", "verify")],
)
def test_names_are_found_without_optional_packages(module: str, name: str) -> None:
    """By `import *`, `dir`, `help`, `inspect.getmembers` and the completion of Python's prompt."""
    program = f"""
import {module} as module
from {module} import *

assert {name!r} in dir(module)
assert {name!r} in dict(inspect.getmembers(module))
assert f"\\n    {name}(" in pydoc.plain(pydoc.render_doc(module))
assert any("module.{name}" in each for each in rlcompleter.Completer({{"module": module}}).attr_matches("module."))
print({name}.__name__)
"""
    # These import a module of the standard library whose name is not in sys.stdlib_module_names.
    assert without_optional_packages(program, "import inspect, pydoc, rlcompleter") == name


@pytest.mark.parametrize("use_jedi", [False, True])
def test_ipython_completes_names_without_optional_packages(use_jedi: bool) -> None:
    """It evaluates the names that `dir` lists, with jedi or without."""
    needs("IPython")
    before = f"""
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

def names(text):
    with provisionalcompleter():
        return [each.text.lstrip(".") for each in shell.Completer.completions(text, len(text))]

shell = InteractiveShell.instance()
shell.Completer.use_jedi = {use_jedi}
names("shell.")  # imports what the completer needs
"""
    program = "import fakempi; shell.user_ns['fakempi'] = fakempi; print(*names('fakempi.'))"
    completions = without_optional_packages(program, before).split()
    assert "run" in completions
    assert "strategies" not in completions


def test_a_name_that_needs_an_optional_package_is_imported_explicitly() -> None:
    """The error names the package; `import *` never imports it."""
    program = """
try:
    from fakempi import strategies
except ModuleNotFoundError as error:
    print(error)
"""
    assert without_optional_packages(program) == "No module named 'hypothesis'"
    assert without_optional_packages("from fakempi import strategies; print(strategies.sizes)", "import hypothesis")
    names: dict[str, object] = {}
    exec("from fakempi import *", names)
    assert "run" in names
    assert "strategies" not in names
