"""Where a script is: `__file__`, the code's file and `sys.path[0]` are what Python makes of the same command."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fakempi.apps.cli import main

SCRIPT = """
import os, sys
import found_next_to_the_script
print(__file__, sys._getframe().f_code.co_filename, __loader__.path if hasattr(__loader__, "path") else "", sys.argv[0])
os.chdir("/")
print(sys.path[0], os.path.isabs(__file__), os.path.isfile(os.path.join(os.path.dirname(__file__), sys.argv[1])))
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with a script, a package to execute, an archive of it, and symbolic links."""
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("script.py", "__main__.py"):
        (inner / name).write_text(SCRIPT)
    (inner / "found_next_to_the_script.py").touch()
    (tmp_path / "link.py").symlink_to(inner / "script.py")
    (tmp_path / "linked").symlink_to(inner)
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        for path in inner.glob("*.py"):
            archive.write(path, path.name)
    return tmp_path


@pytest.mark.parametrize(
    "how", [[], pytest.param(["--processes"], marks=pytest.mark.slow)], ids=["one process", "processes"]
)
def test_paths_are_those_of_python(
    directory: Path, how: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are absolute, with `./` and `..` as typed; modules are found where a symbolic link leads."""
    monkeypatch.chdir(directory)
    for name in ("inner/script.py", "./inner/script.py", "inner/../link.py", "linked/script.py", "inner", "archive.pyz"):
        done = subprocess.run(
            [sys.executable, name, "script.py"], capture_output=True, text=True, timeout=270, check=True
        )  # fmt: skip
        assert main(["run", "-q", "-n", "1", *how, name, "script.py"]) == 0
        assert capfd.readouterr().out == done.stdout, name
        assert os.getcwd() == str(directory)
