"""The output of `fakempi compare`.

tables      tables and plots of a comparison, and the remarks below a table
progress    progress bar with the remaining time
"""
