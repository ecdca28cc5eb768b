"""Reader of the calls in a trace of `fakempi run --trace FILE --cpu-scale 1`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.formats.recorded import read_texts
from fakempi.recordings.recording import Recording
from fakempi.trace import files

SUFFIXES = (".json", ".npz")

HOW_TO_RECORD = (
    "the trace has no calls to replay. They are recorded if computing is measured: fakempi run -n N --cpu-scale 1 "
    "--trace FILE script.py, or in Python run(..., trace=True, cpu_scale=1)."
)


def recognizes(path: Path) -> bool:
    """Return whether the name of a file is that of a trace."""
    return path.suffix in SUFFIXES and path.is_file()


def read(path: Path, progress: Callable[[float], None]) -> Recording:
    """Return the recording in a trace."""
    trace = files.read(path)
    if not trace.recording:
        raise RecordingError(HOW_TO_RECORD, path)
    if "ended" in trace.about:
        headline = str(trace.about["ended"].get("headline", "")).strip().rstrip(".:")
        raise RecordingError(f"the traced run failed, so its calls are incomplete: {headline}.", path)
    return read_texts(trace.recording, str(path), progress)
