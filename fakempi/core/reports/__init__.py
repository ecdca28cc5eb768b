"""Reports of deadlocks and findings, composed from plain records."""
