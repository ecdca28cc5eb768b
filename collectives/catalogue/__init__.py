"""An algorithm's name, code and executable claims.

algorithm       Algorithm and Claims: what the catalogue knows about an algorithm
declaration     @algorithm, which makes an algorithm of a function
family          algorithms that differ only in the code that they call
conditions      reasons against cases that many algorithms share
case            one use of an algorithm: ranks, bytes, counts, root ...
card            the labeled lines of an algorithm's docstring
bits            what the bits of a floating-point sum depend on
schedule        transfers round by round, and their exact time
array_round     a round as arrays, for schedules of many ranks
message_count   the number of messages, before they are simulated or sent
closed_forms    closed forms of the time that several algorithms share
composite       the claims of algorithms composed of others
concurrent      the same for parts on groups of ranks, in phases
bound           an algorithm with other default parameters
"""
