"""`fakempi schedule`: schedules of files and of algorithms.

commands    show, verify, run, export
limits      verifies within a time limit, with a progress bar
options     the options
timeline    runs a schedule; its timeline, with a mark at a fault
"""
