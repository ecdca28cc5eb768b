"""Commands for measured machines.

calibrating   `fakempi calibrate`
fit_figure    its `--figure`
validating    the summary below `fakempi compare --beside`
"""
