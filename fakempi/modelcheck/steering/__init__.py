"""Steered runs: everything that MPI leaves open is an explicit choice, made by a schedule or by the search.

token           schedules as text, "z:0.0.2.1", and the modes of a run (buffering, synchronizing collectives)
choices         the choices of a run: list the options when nothing else can happen, and carry one out
points          choice points: wildcard receives, probes, Waitany and similar calls, tests, thread locks, file pointers
windows         choice points of windows: locks and atomic operations
probe_results   messages that a probe has returned, which a later probe must find
causal_records  the causal past of tasks and messages, as bit masks
causality       maintains these records from the events of the loop and the network
state_hash      a digest of everything that ranks have received
fairness        fair turns for tasks that poll, and detection of livelocks
mailbox         matches what is determined, and leaves wildcard receives to a choice
network         the delivery and the loop of a steered run
replay          a run that follows a token

In a steered run (`run(schedule=...)`, `explore`) time decides nothing. Determined events happen first: a receive that names
its source matches immediately, unless an earlier wildcard receive could take its message. When nothing else can happen,
`OpenLoop.next` calls `Choices.choose`. It lists every choice point with every value that it may take, in an order that
depends on the program alone, and one of these options is carried out: the one that the token names (`Replay`), or the one
that the search selects (`PathChoices`). The indices of options in lists with several entries make up the token.

`universe.choices` decides in place of time for a few calls: Waitany and similar calls, tests, probes, locks of threads, and
locks and atomic operations of windows. Other runs pay one attribute check in these calls, and nothing per message.

Each token names a mode (`LibraryMode`): the size up to which standard sends are buffered, and whether collective calls are
barriers. `Choices.is_eager` records the sizes of the program's standard sends; messages inside collective calls have a
separate limit.
"""
