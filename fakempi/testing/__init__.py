"""What the pytest plugin does with a test that is marked: markers, fixtures on every rank, outcomes, reports."""
