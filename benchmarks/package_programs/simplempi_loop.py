"""simplempi scatters the items of a loop to ranks."""

from simplempi.parfor import parfor, smpi

found = [item**2 for item in parfor(list(range(10)))]
print(f"{smpi.rank}: {found} {sum(smpi.comm.allgather(sum(found)))}\n", end="", flush=True)
