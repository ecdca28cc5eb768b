"""What a run's state says about what is wrong with it, as records that `checks` puts into words."""
