"""Machine files: what is written is read again, options can be overridden, and every error names file, line and key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi.core.network.models.machine_file import OPTIONS, is_machine_file, load_machine, parse_machine
from fakempi.core.network.models.multi_level import ErrorRange, Level, MultiLevel, PiecewiseLinear
from fakempi.core.options import cost_model
from fakempi.errors import MPIValueError
from fakempi.machines.writing import machine_text
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

PAGE = Path(__file__).parents[2] / "docs" / "machines.md"

costs = st.floats(0, 1e-3, allow_subnormal=False)
pieces = st.builds(
    lambda starts, rows: PiecewiseLinear([(start, *row) for start, row in zip([0, *sorted(starts)], rows, strict=False)]),
    st.sets(st.integers(1, 2**40), max_size=4),
    st.lists(st.tuples(costs, costs), min_size=5, max_size=5),
)
levels = st.builds(
    Level, pieces, st.none() | pieces, st.none() | pieces, st.none() | st.integers(1, 64), costs, costs,
    st.lists(st.builds(ErrorRange, st.integers(0, 9), st.integers(9, 99), costs, costs), max_size=2).map(tuple),
).map(lambda level: level if level.ports else level._replace(port_t_w=0, port_gap=0))  # fmt: skip
models = st.builds(
    lambda network, others, per_node, per_socket, per_cache, eager, duplex, per_byte, texts: MultiLevel(
        {**others, "network": network}, per_node, per_socket, per_cache, eager_limit=eager, duplex=duplex,
        compute_per_byte=per_byte, provenance=[(f"key{number}", text) for number, text in enumerate(texts)],
    ),
    levels, st.dictionaries(st.sampled_from(["cache", "socket", "node"]), levels), st.none() | st.integers(1, 99),
    st.none() | st.integers(1, 99), st.none() | st.integers(1, 99), st.integers(0, 2**30), st.booleans(), costs,
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3),
)  # fmt: skip

FILE = """\
version = 1
ranks_per_node = 4
ranks_per_socket = 2

[level.socket]
time = [[0, 1.0, 0.0]]
[level.node]
time = [[0, 2.0, 0.5], [8, 10.0, 0.25]]
[level.network]
time = [[0, 16.0, 1.0]]
gap = [[0, 4.0, 1.0]]
overhead = [[0, 2.0, 0.0]]
ports = 2
"""


def parameters_of(model: MultiLevel) -> Any:
    """All that determines a model's costs, and where its numbers are from."""
    places = ("ranks_per_node", "ranks_per_socket", "ranks_per_cache")
    names = ("levels", *places, "eager_limit", "duplex", "ports", "compute_per_byte")
    return [getattr(model, name) for name in (*names, "provenance")]


@pytest.mark.sample
@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(models)
def test_a_file_that_is_written_and_read_is_the_same_model(model: MultiLevel) -> None:
    """Number for number, with provenance and errors."""
    assert parameters_of(parse_machine(machine_text(model))) == parameters_of(model)


def test_a_file_is_a_cost_model_wherever_one_is_accepted(tmp_path: Path) -> None:
    """In run(cost=...) and in the texts of --cost, where options override those of the file."""
    path = tmp_path / "cluster.toml"
    path.write_text(FILE)
    assert fakempi.run(lambda comm: comm.Barrier(), 4, cost=str(path)).time == 4.0  # two rounds through the node
    model = cost_model(f"{path}:ranks_per_node=2,eager_limit=0")
    assert isinstance(model, MultiLevel)
    assert (model.ranks_per_node, model.eager_limit) == (2, 0)
    assert (model.transfer(0, 1, 4), model.transfer(0, 2, 4)) == ((1.0, 1.0, 1.0), (8.0, 2.0, 20.0))


def test_levels_follow_the_placement() -> None:
    """Two ranks per socket and four per node; at 8 bytes the node's protocol changes."""
    model = parse_machine(FILE)
    assert [model.level_name(0, rank) for rank in range(6)] == ["cache", "cache", "node", "node", "network", "network"]
    assert [model.transfer(1, 2, nbytes)[2] for nbytes in (0, 7, 8)] == [2.0, 5.5, 12.0]
    assert model.route(0, 4) == (("network", 0, "out"), ("network", 1, "in"))
    assert model.link(("network", 0, "out")).width == 2


def test_ranks_fill_caches_in_order() -> None:
    """Six ranks per socket with caches of four: the last cache of a socket is smaller, as is the last socket of a node."""
    text = FILE.replace("per_node = 4", "per_node = 8").replace("per_socket = 2", "per_socket = 6\nranks_per_cache = 4")
    model = parse_machine(text + "[level.cache]\ntime = [[0, 0.5, 0.0]]\nports = 1\n")
    names = [model.level_name(0, rank) for rank in range(9)]
    assert names == ["cache"] * 4 + ["socket"] * 2 + ["node"] * 2 + ["network"]
    assert [model.transfer(0, rank, 0)[2] for rank in (1, 4, 6, 8)] == [0.5, 1.0, 2.0, 16.0]
    assert (model.route(4, 5), model.route(0, 4)) == ((("cache", 0, 0, 1),), ())


def test_a_shared_port_limits_concurrent_transfers() -> None:
    """Four messages between two nodes with two ports each way take two turns."""
    text = FILE.replace("ports = 2", "ports = 2\nport_gap = 100.0")

    def main(comm: Any) -> None:
        if comm.rank < 4:
            comm.Send(bytearray(1), comm.rank + 4)
        else:
            comm.Recv(bytearray(1), comm.rank - 4)

    assert fakempi.run(main, 8, cost=parse_machine(text)).time == 100 + 17


def test_the_gap_is_what_a_stream_of_messages_takes() -> None:
    """The last of k messages arrives after k - 1 gaps and the one-way time."""

    def main(comm: Any) -> None:
        for _ in range(5):
            if comm.rank == 0:
                comm.Send(bytearray(2), 4)
            elif comm.rank == 4:
                comm.Recv(bytearray(2), 0)

    assert fakempi.run(main, 5, cost=parse_machine(FILE)).time == 4 * 6.0 + 18.0


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("version = 1\n", "", "m.toml: version: this key is missing: write version = 1."),
        ("version = 1", "version = 2", "m.toml line 1: version: 2 is unknown; this release of fakempi reads version 1."),
        ("version = 1", "version = ", "m.toml is not valid TOML: Invalid value (at line 1, column 11)."),
        ("ports = 2", "prts = 2", "m.toml line 13: level.network.prts: this key is unknown. Did you mean ports? Known: "),
        ("ports = 2", "ports = 0", "m.toml line 13: level.network.ports: 0 is not an integer of at least 1."),
        ("ports = 2", "port_gap = -1", "m.toml line 13: level.network.port_gap: -1 is not at least 0."),
        ("ranks_per_node = 4", "ranks_per_node = 0", "m.toml line 2: ranks_per_node=0 is less than 1."),
        ("[level.network]", "[level.rack]", "m.toml line 9: level.rack: this key is unknown. Known: cache, socket,"),
        ("[0, 2.0, 0.5]", "[1, 2.0, 0.5]", "m.toml line 8: level.node.time: the first row must start at 0 bytes, not at 1."),
        ("[8, 10.0, 0.25]", "[0, 1.0, 0.25]", "m.toml line 8: level.node.time: row 2 starts at 0 bytes, and the row "),
        ("[8, 10.0, 0.25]", "[8.5, 1.0, 0.2]", "m.toml line 8: level.node.time: row 2 starts at 8.5 bytes, which is not "),
        ("[8, 10.0, 0.25]", "[8, -1.0, 0.2]", "m.toml line 8: level.node.time: row 2 has a negative start-up time, -1.0."),
        ("[8, 10.0, 0.25]", "[8, 10.0]", "m.toml line 8: level.node.time: row 2 has 2 numbers, not 3: [from bytes, "),
        ("[8, 10.0, 0.25]", '[8, "x", 1]', "m.toml line 8: level.node.time: row 2: 'x' is not a finite number."),
        ("[8, 10.0, 0.25]", "[8, inf, 1]", "m.toml line 8: level.node.time: row 2: inf is not a finite number."),
        ("time = [[0, 16.0, 1.0]]\n", "", "m.toml line 9: level.network.time: this key is missing: write rows "),
        ("time = [[0, 1.0, 0.0]]", "time = 3", "m.toml line 6: level.socket.time: 3 is not a list of rows [from bytes, "),
    ],
)
def test_errors_name_the_file_the_line_and_the_key(old: str, new: str, error: str) -> None:
    """One sentence each."""
    assert old in FILE
    with pytest.raises(MPIValueError) as raised:
        parse_machine(FILE.replace(old, new), "m.toml")
    assert str(raised.value).startswith(error)
    assert "\n" not in str(raised.value)


def test_several_nodes_need_a_level_network() -> None:
    """In the file and as an override."""
    text = "version = 1\n[level.node]\ntime = [[0, 1.0, 0.0]]\n"
    assert parse_machine(text, "m.toml").node(99) == 0
    with pytest.raises(MPIValueError, match=r"m.toml: ranks_per_node=2 places ranks on several nodes, but there is no"):
        parse_machine(text, "m.toml", {"ranks_per_node": 2})


def test_files_that_cannot_be_read_and_unknown_options(tmp_path: Path) -> None:
    """The path, and the known options."""
    with pytest.raises(MPIValueError, match=r"none.toml cannot be read: No such file or directory."):
        load_machine(str(tmp_path / "none.toml"))
    (tmp_path / "m.toml").write_bytes(b"\xff")
    with pytest.raises(MPIValueError, match=r"m.toml is not a text in UTF-8."):
        load_machine(str(tmp_path / "m.toml"))
    with pytest.raises(MPIValueError, match=r"'t_s=1' is not a parameter with a value; parameters: ranks_per_node, "):
        cost_model("m.toml:t_s=1")
    assert [is_machine_file(text) for text in ("a.toml", "./b.TOML:ports=2", "torus", "toml")] == [True, True, False, False]


def test_the_example_on_the_page_has_every_key_that_the_reader_accepts() -> None:
    """At the top, and in the tables of levels; the reader accepts the example."""
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    head, *tables = re.split(r"^\[", example, flags=re.MULTILINE)
    assert set(re.findall(r"^(\w+) =", head, re.MULTILINE)) == {"version", *OPTIONS}
    levels_shown = "".join(table for table in tables if table.startswith("level."))
    assert set(re.findall(r"^(\w+) =", levels_shown, re.MULTILINE)) == {*Level._fields}
    parse_machine(example)


HEAD = "version = 1\n{}\n[level.network]\ntime = [[0, 1.0, 0.0]]\n{}\n"
VALUES = ("true", "false", "0", "1", "-1", "1.0", "1.5", "nan", "inf", '"no"', '"1"', "[1]", "{a = 1}", "2026-01-01")
INTEGERS = {"ports", "ranks_per_node", "ranks_per_socket", "ranks_per_cache"}
ACCEPTED: dict[str, set[str]] = {
    "version": {"1"},
    "duplex": {"true", "false"},
    "eager_limit": {"0", "1", "inf"},
    "compute_per_byte": {"0", "1", "1.0", "1.5"},
    **{name: {"1"} for name in INTEGERS},
}
"""Key -> the values above that it accepts."""
ACCEPTED_IN_LEVELS: dict[str, set[str]] = {
    "ports": {"1"}, "port_t_w": {"0", "1", "1.0", "1.5"}, "port_gap": {"0", "1", "1.0", "1.5"},
    "time": set(), "gap": set(), "overhead": set(), "errors": set(),
}  # fmt: skip
NUMBERS = {"0", "1", "1.0", "1.5"}
CELLS: list[tuple[str, str, set[str]]] = [
    ("gap", "[[{}, 1, 1]]", {"0"}), ("gap", "[[0, {}, 1]]", NUMBERS), ("gap", "[[0, 1, {}]]", NUMBERS),
    ("errors", "[[{}, 9, 1, 1]]", {"0", "1"}), ("errors", "[[0, {}, 1, 1]]", {"0", "1"}),
    ("errors", "[[0, 9, {}, 1]]", NUMBERS), ("errors", "[[0, 9, 1, {}]]", NUMBERS),
]  # fmt: skip


def check_value(text: str, is_accepted: bool, key: str) -> None:
    """A text is read, or the error names the file and the key."""
    if is_accepted:
        parse_machine(text, "m.toml")
        return
    with pytest.raises(MPIValueError) as raised:
        parse_machine(text, "m.toml")
    assert str(raised.value).startswith("m.toml")
    assert key in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_value_is_checked_for_its_type() -> None:
    """All keys with values of all types; `duplex = "no"` is not true, and true is not the number 1."""
    assert {*ACCEPTED} == {"version", *OPTIONS}
    assert {*ACCEPTED_IN_LEVELS} == {*Level._fields}
    for value in VALUES:
        for key, accepted in ACCEPTED.items():
            text = HEAD.format(f"{key} = {value}", "")
            check_value(text.partition("\n")[2] if key == "version" else text, value in accepted, key)
        for key, accepted in ACCEPTED_IN_LEVELS.items():
            text = HEAD.format("", f"{key} = {value}")
            check_value(text.replace("time = [[0, 1.0, 0.0]]\n", "") if key == "time" else text, value in accepted, key)
        for key, form, accepted in CELLS:
            check_value(HEAD.format("", f"{key} = {form.format(value)}"), value in accepted, key)
        check_value(HEAD.format("", f"[provenance]\nsource = {value}"), value not in ("[1]", "{a = 1}"), "source")
        check_value(HEAD.format(f"provenance = {value}", ""), value == "{a = 1}", "provenance")
        if value != "{a = 1}":  # a table, whose key is unknown
            for table in ("level", "level.network"):
                check_value(f"version = 1\n{table} = {value}\n", False, f"{table}: ")


def test_overrides_are_checked_for_their_type(tmp_path: Path) -> None:
    """As in the file; `none` removes a limit of ranks."""
    path = tmp_path / "m.toml"
    path.write_text(HEAD.format("ranks_per_node = 2", ""))
    assert cost_model(f"{path}:ranks_per_node=none").ranks_per_node is None  # type: ignore[attr-defined]  # a MultiLevel
    assert cost_model(f"{path}:duplex=no").duplex is False
    wrong = ("duplex=0", "duplex=2", "duplex=none", "ports=none", "ports=true", "eager_limit=1.5", "ranks_per_node=1/2")
    for override in wrong:
        with pytest.raises(MPIValueError, match=rf"m\.toml:{override.partition('=')[0]}: \S+ is "):
            cost_model(f"{path}:{override}")


DEEP = {
    "a = " + "[" * 100_000: "its values are nested too deeply.",
    "a = " + "{a=" * 100_000: "its values are nested too deeply.",
    "[provenance]\na = " + "[" * 900 + "]" * 900: "its values are nested too deeply.",
    "[level" + ".a" * 5_000 + "]": "a key has more than 50 parts.",
    "a" + ".a" * 5_000 + " = 1": "a key has more than 50 parts.",
}


@for_each("text, problem", list(DEEP.items()))
def test_a_file_that_is_nested_deeply_is_rejected(text: str, problem: str) -> None:
    """With a sentence, and without the memory that tomllib needs for keys with many parts."""
    with pytest.raises(MPIValueError, match=rf"^m\.toml is not a machine file: {problem}$"):
        parse_machine(text, "m.toml")


def test_messages_have_no_control_characters_and_no_long_values() -> None:
    """A value or key may have any characters, and any length."""
    escape = "\\u001b"
    provenance = HEAD.format("", f'[provenance]\n"{escape}" = [1]')
    for text in (f'version = 1\n"{escape}[31m" = 1', f'version = "{escape}"', provenance):
        with pytest.raises(MPIValueError) as raised:
            parse_machine(text, "m.toml")
        assert str(raised.value).isprintable()
    for value in ('"' + "x" * 10_000 + '"', "[" + "1," * 10_000 + "]", "9" * 4_000, "0x" + "f" * 10_000, "9" * 10_000):
        for key in ("version", "duplex", "eager_limit"):
            rest = HEAD.format("", "").replace("version", "# version") if key == "version" else HEAD.format("", "")
            with pytest.raises(MPIValueError) as raised:
                parse_machine(f"{key} = {value}\n{rest}", "m.toml")
            assert len(str(raised.value)) < 300


def test_keys_of_provenance_are_written_so_that_they_are_read_again() -> None:
    """Also keys that need quotes."""
    model = parse_machine(HEAD.format("", '[provenance]\n"a key = \\u001b" = "x"'))
    assert parse_machine(machine_text(model)).provenance == model.provenance
