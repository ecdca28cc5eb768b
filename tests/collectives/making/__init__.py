"""Tests of what makers of communicators tell each other."""
