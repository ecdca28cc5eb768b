"""The file that a worker process runs, and its limits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fakempi.apps.course.limits import CheckLimits


@dataclass(frozen=True)
class WorkerJob:
    """A copy of a student's file in a temporary directory, its limits, and directories that it may not read."""

    file: Path
    limits: CheckLimits
    hidden: tuple[Path, ...] = ()

    def text(self) -> str:
        """Return the job as JSON."""
        hidden = [str(path) for path in self.hidden]
        limits = self.limits
        return json.dumps(
            {"file": str(self.file), "seconds": limits.seconds, "megabytes": limits.megabytes, "hidden": hidden}
        )

    @staticmethod
    def from_text(text: str) -> WorkerJob:
        """Return the job that `text` describes."""
        words = json.loads(text)
        limits = CheckLimits(words["seconds"], words["megabytes"])
        return WorkerJob(Path(words["file"]), limits, tuple(map(Path, words["hidden"])))
