"""subcommands and config"""

# args: train --lr 0.1 --set a=1
import argparse
import configparser
import sys
from mpi4py import MPI


def main(argv=None, comm=MPI.COMM_WORLD):
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="cmd", required=True)
    t = sub.add_parser("train")
    t.add_argument("--lr", type=float)
    t.add_argument("--set", action="append", default=[])
    t.set_defaults(f=lambda a: print(comm.rank, a.lr, a.set, p.prog))
    a = p.parse_args(argv)
    a.f(a)
    c = configparser.ConfigParser()
    c.read_string("[x]\na = 1\nb = ${a}\n") if comm.rank == 0 else None
    c = comm.bcast(c)
    print(dict(c["x"]))
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
