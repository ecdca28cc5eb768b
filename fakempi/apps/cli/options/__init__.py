"""Options of the commands.

scripts  fakempi run and fakempi check
models   fakempi compare, calibrate, tune and verify
learn    fakempi learn
lint     fakempi lint
watch    fakempi watch
cost_models  the section on `--cost` of the help
values   what a text means: seconds, factors, integers
"""
