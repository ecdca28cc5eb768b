"""Gives the wheel and the source distribution their description; hatchling finds this file by its name."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Description(MetadataHookInterface):
    """Makes the description from README.md."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        root = Path(self.root)
        hook = runpy.run_path(str(root / "docs" / "hooks" / "description.py"))
        text = hook["description"]((root / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
