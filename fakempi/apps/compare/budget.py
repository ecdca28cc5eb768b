"""A limit on the number of messages that one time may take to compute, so that every table is finished.

The limit counts messages of schedules rather than seconds, so the same algorithms are skipped on every machine.
"""

from __future__ import annotations

from dataclasses import replace

from collectives import Algorithm, Case
from collectives.catalogue.message_count import TooManyMessages as TooManyMessages
from collectives.catalogue.message_count import count_messages as count_messages
from collectives.catalogue.message_count import with_limited_schedule
from fakempi.extensions.fused.programs import MOST_STEPS

MOST_SIMULATED = MOST_STEPS
"""Messages of a schedule that is stored while it is simulated, or emulated, unless the caller sets another limit.

Allreduce `ring` on 4,096 ranks has 33,546,240 messages, which need 134 bytes each on links and 205 bytes step by step, and
take minutes to simulate and half an hour to emulate.
"""

MOST_EVALUATED = 8 * MOST_SIMULATED
"""Messages of a schedule that is evaluated in one pass in Python, without storing it: 20 minutes."""


def limited(algorithm: Algorithm, case: Case, limit: int) -> tuple[Algorithm, Case]:
    """Return the algorithm and the case with schedules that raise `TooManyMessages` after `limit` messages.

    A claim is a formula, or it is computed from the schedule of the algorithm or of its parts.
    """
    every = {**algorithm.parameters, **case.parameters}
    parts = {name: with_limited_schedule(value, limit) for name, value in every.items() if isinstance(value, Algorithm)}
    return with_limited_schedule(algorithm, limit), replace(case, parameters={**case.parameters, **parts})
