"""The record of a run: packed rows of numbers, their file formats, and measures computed from them.

columns        columns of transfers, compute intervals and regions
recorder       records a run
call_finder    finds the program's call on the stack
record         Trace: the columns, and records for single events
renderer       the functions that show traces; those of the package view by default
regions        distinguishes collective calls from their nested parts
states         when ranks compute, communicate or are idle
rounds         the longest chain of dependent transfers
critical       the critical path
waits          wait states: the reasons for idle time
wait_names     their names and definitions
wait_calls     waits in collective calls, and in others that wait for something other than messages
wait_messages  waits for messages: the other side is late, or a port is in use
run_end        the record of how a run failed
blocked        the ranks that were blocked when a run failed
levels         the nodes and other levels of the machine on which ranks run
measures       Measures: all numbers computed from a trace
files          .json and .npz files
chrome         trace events for Perfetto and Chrome
packing        compresses rows to text for .json files
validation     checks the rows of a file
metadata       checks the metadata of a file
"""
