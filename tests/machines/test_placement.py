"""The default placement of a machine file, from the cores that a file of placements lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.core.network.models.machine_file import load_machine
from tests.cli.test_running import Capture

NAMES = [(node, socket) for node in ("a", "b") for socket in (0, 1) for _ in range(3)]
"""The node and the socket of each of twelve cores."""


def calibrated(directory: Path, names: list[tuple[str, int]], *options: str) -> int:
    """Fit a machine file `m.toml` to times that depend on the level of a pair of cores; returns the exit code."""
    rows = ["a,b,bytes,seconds"]
    for size in (1, 64, 512, 4096, 32768, 262144):
        for b in (1, 3, 6):
            level = 3 if names[b][0] != "a" else 2 if names[b][1] else 1
            rows.append(f"0,{b},{size},{level * (1e-6 + size * 1e-9)}")
    (directory / "pairs.csv").write_text("\n".join(rows) + "\n")
    cores = [f"{core},{node},{socket}" for core, (node, socket) in enumerate(names)]
    (directory / "cores.csv").write_text("\n".join(["core,node,socket", *cores]) + "\n")
    files = ["--from", str(directory / "pairs.csv"), "--placement", str(directory / "cores.csv")]
    return main(["calibrate", *files, "-o", str(directory / "m.toml"), *options])


def test_the_cores_of_nodes_and_sockets_are_the_defaults(tmp_path: Path) -> None:
    """Ranks 0 and 6 are on different nodes, so a message between them takes three times as long as on a socket."""
    assert calibrated(tmp_path, NAMES) == 0
    model = load_machine(str(tmp_path / "m.toml"))
    assert (model.ranks_per_node, model.ranks_per_socket, model.ranks_per_cache) == (6, 3, None)
    assert [model.level_name(0, rank) for rank in (2, 3, 6)] == ["cache", "node", "network"]  # one cache per socket
    assert "ranks_per_node = 6, ranks_per_socket = 3: cores in " in (tmp_path / "m.toml").read_text()


def test_options_come_first(tmp_path: Path) -> None:
    assert calibrated(tmp_path, NAMES, "--ranks-per-node", "4", "--ranks-per-socket", "2") == 0
    model = load_machine(str(tmp_path / "m.toml"))
    assert (model.ranks_per_node, model.ranks_per_socket) == (4, 2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            NAMES[:-1],
            "cores.csv: node a has 6 cores and node b has 5, but a machine file has one number: choose it with --ranks",
        ),
        ([*NAMES[:4], ("a", 0), ("a", 0), *NAMES[6:]], "socket a 0 has 5 cores and socket a 1 has 1"),
    ],
)
def test_unequal_numbers_are_refused(names: list[tuple[str, int]], message: str, tmp_path: Path, capsys: Capture) -> None:
    assert calibrated(tmp_path, names) == 2
    assert message in capsys.readouterr().err
