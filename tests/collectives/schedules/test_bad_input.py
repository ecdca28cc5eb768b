"""Invalid files: one sentence with the line, in bounded time and memory."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from collectives import Case, find
from collectives.loading import SCHEDULE_SUFFIXES
from collectives.schedules import InvalidScheduleError, goal, json_format, load, msccl, record
from collectives.schedules.formats import FORMATS

GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n%s\n}\n"
STEP = '<step s="0" type="%s" srcbuf="i" srcoff="%s" dstbuf="o" dstoff="0" cnt="%s" depid="%s" deps="0" hasdep="0"/>'
XML = """<algo name="x" coll="allreduce" ngpus="1" nchannels="1" nchunksperloop="1" proto="Simple" inplace="0">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
<tb id="0" send="-1" recv="-1" chan="0">
%s
</tb></gpu></algo>"""
ENTITIES = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(20))
BOMB = f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]>\n'


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("l2: sent 8b to 0", "line 7, column 5: expected send, recv, calc, not 'sent'"),
        ("l2: send 8b from 0", "line 7, column 13: expected to, not 'from'"),
        ("l2 send 8b to 0", "line 7, column 1: expected send, recv, calc, `LABEL:`, `LABEL requires` or"),
        ("send 8 to 0", "line 7, column 8: expected b, not 'to'"),
        ("calc 1.5", "line 7, column 7: unexpected character '.'"),
        ("calc -5", "line 7, column 6: a calc takes -5 ns"),
        ("send -8b to 0", "line 7, column 6: a message has -8 bytes"),
        ("calc 5 tag 3", "line 7, column 8: expected send, recv, calc, `LABEL:`"),
        ("calc 5 requires 3", "line 7, column 17: expected the label of an operation, not '3'"),
        ("calc 5 cpu x", "line 7, column 12: expected the number of a cpu, not 'x'"),
        ("calc 5 /* no end", "line 7, column 8: the comment has no end"),
        ("calc 5 cpu 1 cpu 1", "line 7, column 14: cpu occurs twice"),
        ("recv 8b from 0 tag -1", "line 7, column 20: wildcards"),
        ("calc 5\rcalc x", "line 8, column 6: expected nanoseconds, not 'x'"),
        ("l2: send 8b to 2 tag 0", "line 7, column 16: rank 2 does not exist"),
        ("l2: recv 8b from -1 tag 0", "line 7, column 18: wildcards"),
        ("l1: calc 5", "line 7, column 1: label l1 occurs twice"),
        ("l1 requires l9", "line 7, column 4: rank 1 has no label l9"),
        ("l1 requires l1", "cycle"),
        ("l2: calc 5\nl2 requires l1\nl1 irequires l2", "cycle"),
        ("l2: send 99999999999999999999b to 0", "line 7, column 10: the number"),
        ("rank 0 {", "line 7, column 1: expected send"),
        ('// fakempi step {"kind": "send"', "line 7, column 1: the comment is not valid JSON"),
        ('// fakempi step {"kind": "jump"}\nl2: calc 1', "line 7, column 1: the comment: unknown key 'jump'"),
        ('// fakempi step {"kind": "send"}\nl2: calc 1', "column 1: the comment describes a send, but a calc follows"),
    ],
)
def test_invalid_goal(line: str, part: str) -> None:
    with pytest.raises(InvalidScheduleError, match=part):
        goal.read(GOAL % line)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no num_ranks"),
        ("num_ranks 99999999\n", "line 1, column 1: num_ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "no rank 1"),
        ("num_ranks 1\nrank 0 {\n", "line 3, column 1: the file has no closing brace for rank 0"),
        ("num_ranks 1 rank 0 { } rank 0 { }", "line 1, column 24: rank 0 occurs twice"),
        ("num_ranks 1 rank 0 calc", "line 1, column 20: expected {, not 'calc'"),
        ("rank 0 {\n}", "line 1"),
        ("\x00\x01", "line 1"),
    ],
)
def test_invalid_structure_of_goal(text: str, part: str) -> None:
    with pytest.raises(InvalidScheduleError, match=part):
        goal.read(text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("<algo", "line 1: not well-formed"),
        ("", "line 1: not well-formed"),
        (BOMB + "<algo name='&t;'/>", "line 1: document type"),
        ("<other/>", "line 1: <other> where <algo>"),
        (XML % (STEP % ("jump", 0, 1, -1)), "line 4: type='jump'"),
        (XML % (STEP % ("cpy", 0, 10**9, -1)), "line 4: cnt=1000000000"),
        (XML % (STEP % ("cpy", 0, 10**30, -1)), "line 4: cnt="),
        (XML % (STEP % ("cpy", "x", 1, -1)), "line 4: srcoff='x'"),
        (XML % (STEP % ("cpy", 5, 1, -1)), "the buffer has 1024 bytes"),
        (XML % (STEP % ("cpy", 0, 1, 7)), "line 4: depid=7"),
        (XML % (STEP % ("s", 0, 1, -1)), "line 4: type='s'"),
        (XML % "<step s='0'/>", "line 4: <step> has no attribute 'type'"),
        (XML.replace('ngpus="1"', 'ngpus="3"') % "", "line 1: ngpus=3"),
        (XML.replace('ngpus="1"', 'ngpus="16000000"') % "", "line 1: ngpus=16000000"),
        ("<!-- fakempi {1 -->" + XML % "", "not valid JSON"),
        ('<!-- fakempi {"chunk_bytes": 0} -->' + XML % "", "whole numbers"),
    ],
)
def test_invalid_xml(text: str, part: str) -> None:
    with pytest.raises(InvalidScheduleError, match=part):
        msccl.read(text)


def test_a_cycle_of_thread_blocks() -> None:
    block = '<tb id="%d" send="-1" recv="-1" chan="0">' + STEP + "</tb>"
    blocks = block % (1, "cpy", 0, 1, 0) + block % (0, "cpy", 0, 1, 1)
    text = XML.replace('<tb id="0" send="-1" recv="-1" chan="0">\n%s\n</tb>', blocks)
    with pytest.raises(InvalidScheduleError, match="thread block [01], step 0: its dependencies form a cycle"):
        msccl.read(text)


VALID = {"format": "fakempi schedule", "version": 1, "ranks": 1, "buffers": [{"output": 8}], "steps": [[]]}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "not valid JSON.*line 1"),
        ("[" * 100_000, "not valid JSON|not a schedule"),
        ("7", "not a schedule"),
        (json.dumps({**VALID, "version": 2}), "version 2"),
        (json.dumps({**VALID, "ranks": 2}), "2 ranks"),
        (json.dumps({**VALID, "ranks": "2"}), '"ranks" must be int'),
        (json.dumps({**VALID, "ranks": 10**12}), "ranks"),
        (json.dumps({**VALID, "root": 5}), "root 5"),
        (json.dumps({**VALID, "root": True}), '"root" must be int'),
        (json.dumps({**VALID, "buffers": [{"output": -1}]}), "from 0 to"),
        (json.dumps({**VALID, "buffers": [{"output": 10**40}]}), "from 0 to"),
        (json.dumps({**VALID, "aliases": [{"input": ["nothing", 0]}]}), "not part of"),
        (json.dumps({**VALID, "aliases": [{}, {}]}), "aliases of 2 ranks"),
        (json.dumps({**VALID, "buffering": "some"}), '"buffering"'),
        (json.dumps({**VALID, "steps": [[{"jump": 1}]]}), "rank 0, step 0: unknown key 'jump'"),
        (json.dumps({**VALID, "steps": [[{"send": 0, "recv": 0}]]}), "exactly one of"),
        (json.dumps({**VALID, "steps": [[{"send": 3}]]}), "there is only 1 rank"),
        (json.dumps({**VALID, "steps": [[{"compute": -1}]]}), "compute needs seconds"),
        (json.dumps({**VALID, "steps": [[{"compute": 1, "after": [0]}]]}), "cycle"),
        (json.dumps({**VALID, "steps": [[{"compute": 1, "after": [3]}]]}), "depends on step 3"),
        (json.dumps({**VALID, "steps": [[{"copy": None}]]}), "source and target are required"),
        (json.dumps({**VALID, "steps": [[{"send": 0, "source": ["output", 4, 8]}]]}), "the buffer has 8 bytes"),
        (json.dumps({**VALID, "steps": [[{"send": 0, "source": ["other", 0, 8]}]]}), "no buffer 'other'"),
    ],
)
def test_invalid_json(text: str, part: str) -> None:
    with pytest.raises(InvalidScheduleError, match=part):
        json_format.read(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.goal").write_bytes(b"\xff\xfe\x00")
    for name, part in (("none.goal", "No such file"), ("x.txt", "unknown suffix"), ("binary.goal", "UTF-8")):
        with pytest.raises(InvalidScheduleError, match=part):
            load(tmp_path / name)


def test_the_suffixes_are_those_of_the_formats() -> None:
    assert {*SCHEDULE_SUFFIXES} == {*FORMATS}


@pytest.mark.sample
@pytest.mark.slow
def test_damaged_files_are_refused_or_read() -> None:
    """Random damage raises no other error than InvalidScheduleError; what is read can be verified."""
    random, schedule = Random(5), record(find("allreduce", "ring"), Case(p=3, m=12))
    for form in (json_format, goal, msccl):
        text = form.write(schedule)
        for _ in range(150):
            start = random.randrange(len(text))
            inserted = "".join(random.choice('0123456789{}[]"<>/ -:,ab\n') for _ in range(random.randrange(4)))
            message = ""
            try:
                form.read(text[:start] + inserted + text[start + random.randrange(6) :]).verify("allreduce")
            except InvalidScheduleError as error:
                message = str(error)
            assert "\n" not in message
            assert len(message) < 1000


def test_gigantic_buffers_need_little_memory() -> None:
    """Their contents are intervals, whatever the sizes are."""
    huge = 1 << 50
    one = {**VALID, "buffers": [{"input": huge, "output": huge}],
           "steps": [[{"copy": None, "source": ["input", 1, 2], "target": ["output", 1, 2]}]]}  # fmt: skip
    faults = json_format.read(json.dumps(one)).verify("allreduce")
    assert [fault.where for fault in faults[:2]] == ["output[0:1]", "output[3:4]"]
    assert {fault.kind for fault in faults} == {"missing"}
