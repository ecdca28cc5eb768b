"""Groups as chains: everybody knows its rank, the size and its two neighbours, and no more. Scans, collectives, sorts."""

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.meter import Meter

__all__ = ["NOBODY", "Chain", "Meter"]
