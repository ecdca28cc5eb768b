"""`fakempi replay`: recorded runs of applications.

options     the options
commands    the command
tables      its output for one machine
comparison  its output and figure with --compare
records     the same as plain values, for JSON
progress    a bar on standard error
"""
