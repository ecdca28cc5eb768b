"""Let pytest write its --junitxml file in a rank that hangs: the tests that have ended are in it."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


def write(frame: FrameType | None) -> str:
    """Write the file; returns its path, empty if pytest does not write one here.

    pytest's configuration is found among the variables of its own frames. Only functions of pytest are called.
    """
    plugin = sys.modules.get("_pytest.junitxml")
    if plugin is None:
        return ""
    config: Any = None
    while frame is not None and config is None:
        if frame.f_code.co_filename.replace("\\", "/").endswith("_pytest/main.py"):
            config = frame.f_locals.get("config")
        frame = frame.f_back
    xml = config and config.stash.get(plugin.xml_key, None)
    if not xml:
        return ""
    xml.pytest_sessionfinish()
    return str(xml.logfile)
