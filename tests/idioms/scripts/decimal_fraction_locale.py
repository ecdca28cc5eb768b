import decimal
import fractions
import locale
from mpi4py import MPI

comm = MPI.COMM_WORLD
decimal.getcontext().prec = 5 + comm.rank
comm.barrier()
total = comm.allreduce(fractions.Fraction(1, comm.rank + 2))
with decimal.localcontext() as c:
    c.rounding = decimal.ROUND_UP
    up = decimal.Decimal(1) / 3
print(comm.rank, decimal.Decimal(2).sqrt(), up, total, locale.setlocale(locale.LC_NUMERIC), f"{1234.5:n}")
# when: full
