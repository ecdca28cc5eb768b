"""Introducing two groups to each other through their leaders."""
