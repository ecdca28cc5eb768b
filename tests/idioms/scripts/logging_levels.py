import logging
import logging.handlers
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
logging.basicConfig(
    stream=sys.stdout,
    level=logging.INFO if comm.rank == 0 else logging.ERROR,
    format=f"%(levelname)s r{comm.rank} %(name)s %(message)s",
)
log = logging.getLogger("app.part")
log.info("info")
log.error("error")
log.debug("no")
m = logging.handlers.MemoryHandler(10)
log.addHandler(m)
comm.barrier()
log.warning("kept")
print(comm.rank, len(m.buffer), logging.getLogger().level, len(logging.getLogger().handlers), log.getEffectiveLevel())
logging.critical("end of %d", comm.rank)
# when: full
