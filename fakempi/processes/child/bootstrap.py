"""The file that a child process executes. There are two forms of its command line:

python bootstrap.py SOURCE TARGET LIFELINE ARENA ENDING
    Start a child. The arguments are file descriptors: messages from the parent, messages to the parent, a pipe that is
    closed when the parent ends, shared memory, and a pipe for the report of the end of the program.
python bootstrap.py CONTROL PACKAGE
    Start a template process, which imports a package and then forks children on request. CONTROL is a file descriptor.

The file is executed by its path, because the module search path of the program is not known yet: the first message of the
parent contains it.
"""

import os
import sys

if __name__ == "__main__":
    args = sys.argv[1:]
    sys.path.pop(0)  # this directory
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    sys.path.insert(0, root)
    if len(args) == 2:
        from fakempi.processes.child.template import serve

        serve(int(args[0]), args[1])
    else:
        from fakempi.processes.child.files import ChildFiles
        from fakempi.processes.child.main import start_child

        start_child(ChildFiles(*map(int, args)))
