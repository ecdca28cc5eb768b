"""The tests that one command ran, from the record that the pytest plugin writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakempi.core.reports.ranks import ranks_text


@dataclass
class SuiteRecord:
    """The events of the sessions of all ranks.

    Attributes
    ----------
    collected : the names of all selected tests, without numbers of ranks
    ran : names of tests that passed or failed, or that the project skips
    wanted : names of skipped tests -> the numbers of ranks that they request
    failures : one entry per failed test and line
    findings : the findings that pytest reported as warnings
    totals : rank -> totals of its session
    running : tests that have not ended -> ranks
    size : the number of ranks
    root : pytest's root directory, which names of tests are relative to
    """

    collected: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    wanted: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[tuple[str, str, int], str] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    totals: dict[int, str] = field(default_factory=dict)
    running: dict[str, set[int]] = field(default_factory=dict)
    size: int = 1
    root: str = ""

    @classmethod
    def read(cls, path: Path) -> SuiteRecord:
        """Read a record. Its last line may be incomplete if a session was killed."""
        record = cls()
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            record._add(event)
        return record

    def _add(self, event: dict[str, Any]) -> None:
        self.size = event["size"]
        match event["event"]:
            case "collected":
                self.collected, self.root = event["tests"], event["root"]
            case "started":
                self.running.setdefault(event["test"], set()).add(event["rank"])
            case "finished":
                self.running.get(event["test"], set()).discard(event["rank"])
            case "finding":
                self.findings.append(event)
            case "ended":
                self.totals[event["rank"]] = event["total"]
            case "test":
                if event["wanted"]:
                    self.wanted.setdefault(event["name"], []).append(event["wanted"])
                else:
                    self.ran.add(event["name"])
                if event["outcome"] == "failed":
                    self.failures.setdefault((event["test"], event["file"], event["line"]), event["message"])

    def summary(self) -> str:
        """Return pytest's totals of all ranks, and the tests in which sessions were when they were killed."""
        by_total: dict[str, list[int]] = {}
        for rank in range(self.size if self.totals or any(self.running.values()) else 0):
            by_total.setdefault(self.totals.get(rank, ""), []).append(rank)
        parts = []
        for total, ranks in by_total.items():
            whose = f"all {self.size} ranks" if len(by_total) == 1 else f"{ranks_text(ranks)} of {self.size}"
            parts.append(f"{whose}: {total or 'not ended'}" if self.size > 1 else total or "not ended")
        inside = [test for test, ranks in self.running.items() if ranks]
        return "; ".join(parts) + (f", in {' and '.join(inside[:3])}" if inside else "")
