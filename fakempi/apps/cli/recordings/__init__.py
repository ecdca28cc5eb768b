"""`fakempi replay`: recorded runs of applications.

options   the options
commands  the command
tables    what it prints
records   the same as plain values, for JSON
progress  a bar on standard error
"""
