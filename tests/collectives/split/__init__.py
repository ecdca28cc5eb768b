"""Tests of collectives.split."""
