"""Tests of collectives.chain."""
