"""runpy.run_module of a standard library module, alter_sys, exec with globals"""

import runpy
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
g = runpy.run_module("this_xyz", init_globals={}, run_name="x") if False else {}
sys.argv = ["calendar", "2024", "2"]
try:
    runpy.run_module("calendar", run_name="__main__", alter_sys=True)
except SystemExit as e:
    print("exit", e.code)
print(sys.argv[0], __name__, comm.rank)
ns = {"rank": comm.rank}
exec(compile("def f():\n  return rank + 1\nvalue = f()", "<conf>", "exec"), ns)
print(ns["value"], eval("rank * 2", ns))
