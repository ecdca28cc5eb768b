"""Options of the commands.

scripts  fakempi run and fakempi check
models   fakempi compare, calibrate, tune and verify
learn    fakempi learn
values   what a text means: seconds, factors, integers
"""
