"""subprocess.Popen with pipes, communicate, timeouts and environment."""

# ranks: 2
import subprocess
import sys
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD
p = subprocess.Popen(
    [sys.executable, "-c", "import sys; print(sys.stdin.read().upper(), end=''); sys.exit(4)"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)
out, _ = p.communicate(f"rank {comm.rank}")
print(out, p.returncode)
try:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(20)"], timeout=0.5)
except subprocess.TimeoutExpired as e:
    print("timeout", round(e.timeout, 1))
print(subprocess.check_output(["sh", "-c", "echo $PMI_RANK"], text=True).strip() == str(comm.rank))
sys.stdout.flush()
subprocess.run([sys.executable, "-c", f"print('inherited', {comm.rank})"])
os.system(f"echo system {comm.rank}")
