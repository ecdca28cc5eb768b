"""Tests of collectives.comm_creation."""
