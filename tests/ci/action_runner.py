"""Runs the steps of a composite action as GitHub does: inputs, expressions, environment files, and status of the job.

It reads the part of YAML that action.yml uses: nested mappings, a list of steps, and scalars on one line.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FUNCTIONS = {"success()": "not failed", "failure()": "failed", "always()": "True", "cancelled()": "False"}
OPERATORS = {"&&": " and ", "||": " or ", "!": " not "}


def read_yaml(text: str) -> Any:
    """Return mappings, lists of mappings, and strings."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return _block(lines)


def _block(lines: list[str]) -> Any:
    if lines[0].lstrip().startswith("- "):
        starts = [number for number, line in enumerate(lines) if line.startswith(lines[0][: _indent(lines[0])] + "- ")]
        items = [lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
        return [_block([item[0].replace("- ", "  ", 1), *item[1:]]) for item in items]
    found: dict[str, Any] = {}
    starts = [number for number, line in enumerate(lines) if _indent(line) == _indent(lines[0])]
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        key, _, value = lines[start].strip().partition(":")
        found[key] = _scalar(value.strip()) if value.strip() else _block(lines[start + 1 : end])
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _scalar(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[:1] else text


@dataclass
class Job:
    """A job that uses the action: its status, the log and outputs of its steps, and its summary."""

    action: Path
    workspace: Path
    given: dict[str, str]
    failed: bool = False
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    summary: str = ""

    def run(self, *, without: tuple[str, ...] = ()) -> Job:
        """Run all steps, except those whose names are in `without`."""
        action = read_yaml((self.action / "action.yml").read_text(encoding="utf-8"))
        assert action["runs"]["using"] == "composite"
        assert self.given.keys() <= action["inputs"].keys(), "GitHub warns of unknown inputs and ignores them"
        self.values = {f"inputs.{name}": self.given.get(name, entry["default"]) for name, entry in action["inputs"].items()}
        for step in action["runs"]["steps"]:
            condition = step.get("if", "success()")
            status = any(function in condition for function in FUNCTIONS)
            if step["name"] not in without and self._holds(condition if status else f"success() && ({condition})"):
                self._step(step)
        self.outputs = {name: self._filled(entry["value"]) for name, entry in action["outputs"].items()}
        return self

    def _holds(self, condition: str) -> bool:
        """Evaluate a condition."""
        text = condition.removeprefix("${{").removesuffix("}}")
        for name, instead in FUNCTIONS.items():
            text = text.replace(name, instead)
        text = re.sub(r"&&|\|\||!(?!=)", lambda found: OPERATORS[found[0]], text)
        text = re.sub(r"\b(?:inputs|steps|github)\.[\w.-]+", lambda found: repr(self.values.get(found[0], "")), text)
        return bool(eval(text, {"failed": self.failed}))

    def _filled(self, text: str) -> str:
        """Replace each expression by its value; what does not exist is empty."""
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda found: self.values.get(found[1], ""), text)

    def _step(self, step: dict[str, Any]) -> None:
        assert step["shell"] == "bash"
        files = {name: self.workspace.parent / f"{name}-{step['name']}" for name in ("OUTPUT", "STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        script = self.workspace.parent / "step.sh"
        script.write_text(self._filled(step["run"]), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PYTEST_"))}
        environment = {
            **kept, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]), "CI": "true",
            "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_ACTION_PATH": str(self.action),
            "PYTHONPATH": str(self.action), **{f"GITHUB_{name}": str(file) for name, file in files.items()},
            **{name: self._filled(value) for name, value in step.get("env", {}).items()},
        }  # fmt: skip
        bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        ended = subprocess.run(
            bash, cwd=self.workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=280
        )
        self.log += ended.stdout.decode(errors="replace")
        self.summary += files["STEP_SUMMARY"].read_text(encoding="utf-8")
        for line in files["OUTPUT"].read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        self.codes[step["name"]] = ended.returncode
        self.failed |= ended.returncode != 0
