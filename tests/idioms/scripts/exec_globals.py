from mpi4py import MPI

comm = MPI.COMM_WORLD
space = {"comm": comm}
exec("total = comm.allreduce(comm.rank)\ndef f(): return total + comm.rank\nclass C: pass", space)
print(
    comm.rank,
    space["f"](),
    space["C"].__module__,
    eval("comm.size", {"comm": comm}),
    sorted(k for k in space if not k.startswith("__")),
)
code = compile("x = [i for i in range(comm.rank + 1)]", "<made>", "exec")
exec(code)
print(globals()["x"])
# when: full
