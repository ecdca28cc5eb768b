"""Functions that tests of several directories share."""
