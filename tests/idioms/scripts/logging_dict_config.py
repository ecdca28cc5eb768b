"""dictConfig and QueueHandler"""

import logging
import logging.config
import logging.handlers
import queue
import sys
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank


class RankFilter(logging.Filter):
    def filter(self, record):
        record.rank = rank
        return True


logging.config.dictConfig(
    {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"rank": {"()": RankFilter}},
        "formatters": {"f": {"format": "%(rank)d %(levelname)s %(name)s %(message)s"}},
        "handlers": {
            "h": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stdout",
                "formatter": "f",
                "filters": ["rank"],
                "level": "DEBUG",
            }
        },
        "root": {"handlers": ["h"], "level": "INFO" if rank else "DEBUG"},
    }
)
logging.getLogger("a.b").debug("debug")
logging.getLogger("a.b").warning("warn")
q = queue.Queue()
h = logging.handlers.QueueHandler(q)
listener = logging.handlers.QueueListener(q, logging.StreamHandler(sys.stdout))
listener.start()
log = logging.getLogger("queued")
log.propagate = False
log.addHandler(h)
log.error("from %d", rank)
listener.stop()
MPI.COMM_WORLD.Barrier()
logging.shutdown()
