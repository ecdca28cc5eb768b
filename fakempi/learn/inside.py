"""A student's program in this process, without limits: for files that one has written oneself, as in tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakempi.learn.running import answer


class Inside:
    """What a `Worker` does, here."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer, which has been through JSON as any other."""
        told: dict[str, Any] = json.loads(json.dumps(answer(self.file, json.loads(json.dumps(request)))))
        return told
