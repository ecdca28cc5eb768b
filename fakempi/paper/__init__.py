"""Collectives on paper: a call that all ranks make is carried out in one piece, where that is exact.

clocks     when each rank is done, and in which order: the laws of time, round by round, for all ranks at once
events     the same event by event, where messages queue for a port or rounds meet
sheets     what is known on paper of the algorithms: who sends to whom in each round, and what comes of it
contents   the data, combined in each algorithm's own order
hall       where ranks wait until all have come; if that cannot be, all go on as if none had waited
agenda     what was booked when the first one came, and how it all came to be since
"""
