"""What an algorithm is: its name, its text, and its claims, which can be run.

algorithm       Algorithm and Claims: what a file defines
case            one use of an algorithm: ranks, bytes, counts, root ...
card            the labelled lines of a docstring
schedule        who sends how much to whom, round by round, and the exact time of that
closed_forms    rounds and times that many share
composite       the claims of algorithms made of others
"""
