"""The output of `fakempi compare`.

tables      tables and plots of a comparison, and the remarks below a table
figures     the figure of a comparison
latex       the LaTeX table of the fastest algorithms
progress    progress bar with the remaining time
"""
