"""The end of a run, as text: how it failed, with the blocked calls; ranks that died; findings.

A trace contains `ended` if the run failed (deadlock, livelock, failed rank, time limit, interrupt, findings of a strict run,
exit codes), `died` if ranks died, and `findings`. Files of earlier versions may lack them.
"""

from __future__ import annotations

from rich.text import Text

from fakempi.errors.plurals import counted
from fakempi.trace.columns import Columns
from fakempi.view.lines import fitted
from fakempi.view.numbers import seconds


def headline(trace: Columns) -> str:
    """Return how the run failed in a few words: `deadlock at t = 0.001 s`; empty if it did not, or if it is not recorded."""
    return str((trace.about.get("ended") or {}).get("headline", ""))


def deaths(trace: Columns) -> str:
    """Return the ranks that died: `rank 3 at 2.5 ms`; empty if no rank did."""
    died = trace.about.get("died") or []
    texts = [f"rank {one['rank']} at {seconds(one['time'])}" for one in died[:4]]
    return ", ".join([*texts, *([f"and {len(died) - 4} more"] if died[4:] else [])])


def end_texts(trace: Columns) -> list[str]:
    """Return the report of the failure, the deaths of ranks and the findings, each as a text of one or more lines."""
    failure = (trace.about.get("ended") or {}).get("text")
    died = deaths(trace)
    texts = [] if not failure else [str(failure)]
    texts += [f"died: {died}"] if died else []
    return texts + [str(finding["text"]) for finding in trace.about.get("findings") or []]


def report_lines(trace: Columns, width: int, maximum: int = 12) -> list[str]:
    """Return the report of the failure in lines of at most `width` characters where words permit, for a picture."""
    lines = fitted(str((trace.about.get("ended") or {}).get("text", "")), width).split("\n")
    shown = lines if len(lines) <= maximum else [*lines[: maximum - 1], f"... and {len(lines) - maximum + 1} more lines"]
    return [line for line in shown if line]


def without_findings(trace: Columns) -> str:
    """Return the sentence to show if there is no failure and no finding."""
    if "findings" not in trace.about:
        return "This file does not contain findings or the end of the run: an earlier version of fakempi wrote it."
    return "The run completed, and has no findings."


def failed(trace: Columns) -> bool:
    """Return whether the run failed, or has findings that are errors: then views begin with them."""
    return bool(trace.about.get("ended")) or any(not one["note"] for one in trace.about.get("findings") or [])


def end(trace: Columns, *, width: int = 80) -> Text:
    """Return how the run ended: all blocked calls if it failed, ranks that died, and when the last rank ended."""
    found = trace.about.get("findings") or []
    texts = end_texts(trace)[: -len(found) or None]
    if not headline(trace):
        known = "findings" in trace.about
        texts.append(f"All ranks ended, the last one at {seconds(trace.time)}." if known else without_findings(trace))
        texts += [f"It has {counted(len(found), 'finding')}: --what findings"] if found else []
    text = Text.assemble(("How the run ended", "bold"), "\n")
    return text.append("\n".join(fitted(one, width) for one in texts))


def findings(trace: Columns, *, width: int = 80) -> Text:
    """Return the end of the run with all blocked calls, and the findings."""
    texts = end_texts(trace)
    title = "How the run ended" if headline(trace) else "Findings"
    text = Text.assemble((title, "bold"), "\n")
    text.append("\n".join(fitted(one, width) for one in texts) or fitted(without_findings(trace), width))
    return text
