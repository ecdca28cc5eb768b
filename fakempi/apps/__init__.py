"""Programs for people: command line, pytest plugin, notebook, course, tour, terminal viewer, comparison."""
