"""The plan of a verification: which cases are tried, in which settings.

jobs                the cases and their settings, sorted by the number of ranks
large_cases         long messages, and cases on many ranks
parameter_values    values of one parameter
tried               what was tried, as text: numbers of ranks, sizes, values of parameters
"""
