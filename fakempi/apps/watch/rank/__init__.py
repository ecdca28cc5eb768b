"""Modules that run in the ranks of a watched program, outside of fakempi: they import the standard library only.

sitecustomize  starts the agent in each Python process; the directory is first on PYTHONPATH
agent          the connection to the watcher, and the thread that answers
motion         whether the process has moved since the last sample
frames         frames of all threads
stacks         stacks of all threads, and the exception that ended the program
calls          the call that a frame executes, and the values of its arguments
junit          lets pytest write the results of the tests that have ended
"""
