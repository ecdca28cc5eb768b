"""Features that observe or change a run through `fakempi.core.hooks`."""
