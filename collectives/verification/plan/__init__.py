"""The plan of a verification: which cases are tried, in which settings.

jobs                the cases and their settings, sorted by the number of ranks
large_cases         long messages, and cases on many ranks
message_limit       the limit of the messages of a case, which are kept in memory
boundary_cases      sizes around powers of two, roots at both ends, segments of about the message's size
boundary_chains     the same for sorts and splits: colors, keys and numbers
boundaries          the values at which these cases are
parameter_values    values of one parameter
tried               what was tried, as text: numbers of ranks, sizes, values of parameters
"""
