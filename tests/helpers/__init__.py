"""Functions and tables that tests of several directories share.

runs        runs whose return values matter, and calls that must fail
loops       one test over many values
scripts     runs scripts and commands in processes of their own
breadth     how many cases a test tries
leftovers   processes and files that a test has left
packages    optional packages
call_table  the table of MPI's calls
"""
