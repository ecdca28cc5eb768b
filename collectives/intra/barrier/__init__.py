"""Nobody leaves before all have arrived."""
