"""Properties of a call on which the bits of a floating-point sum depend: the line "Bits" of a reduction's card.

The sum of floats depends on the order of the additions, so two orders give results that differ in the last bits. The claims
compare calls with equal operands and the same op; a + b and b + a have the same bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SOURCES = ("p", "root", "position", "nodes", "arrival")
"""The properties on which bits may depend, in the order of the card.

p          with more ranks whose operands are neutral (zeros, in a sum), the bits differ
root       with another root, the bits differ
position   elements at different positions in the message, or in messages of different length, are combined differently
nodes      with another placement of ranks on nodes, the bits differ
arrival    the order in which messages arrive changes the bits, so they may differ between two runs
"""

ONLY_OPERANDS = "the operands only"
LINE = re.compile(r"(?:(equal on all ranks|differ between ranks); )?depend on (.+)")


@dataclass(frozen=True)
class Bits:
    """Whether all ranks receive equal bits (None if they receive different elements), and what the bits depend on.

    >>> Bits.parse("equal on all ranks; depend on p, position")
    Bits(equal=True, sources=('p', 'position'))
    >>> str(Bits(None)), Bits.parse(str(Bits(None, ("root",))))
    ('depend on the operands only', Bits(equal=None, sources=('root',)))
    """

    equal: bool | None
    sources: tuple[str, ...] = ()

    @classmethod
    def parse(cls, line: str) -> Bits:
        """Return the claim of a card's line; ValueError if it has another form."""
        found = LINE.fullmatch(line)
        sources = () if found is None or found[2] == ONLY_OPERANDS else tuple(found[2].split(", "))
        if found is None or list(sources) != [each for each in SOURCES if each in sources]:
            raise ValueError(
                f"a line 'Bits' must be 'depend on' and some of {', '.join(SOURCES)}, in this order, or 'depend on "
                f"{ONLY_OPERANDS}', after 'equal on all ranks; ' or 'differ between ranks; ' where all ranks receive the "
                f"result; it is {line!r}"
            )
        return cls(None if found[1] is None else found[1].startswith("equal"), sources)

    def __str__(self) -> str:
        ranks = {None: "", True: "equal on all ranks; ", False: "differ between ranks; "}[self.equal]
        return f"{ranks}depend on {', '.join(self.sources) or ONLY_OPERANDS}"
