"""All programs, by name."""

from __future__ import annotations

from tests.numbered.blocks import BLOCKS
from tests.numbered.neighbors import NEIGHBORS
from tests.numbered.schedules import SCHEDULES
from tests.numbered.sources import SOURCES

PROGRAMS = {**BLOCKS, **NEIGHBORS, **SCHEDULES, **SOURCES}
