"""What MPI leaves open, as choices that somebody makes: which sender a wildcard takes, which request Waitany gives, ...

token      a schedule as text: "z:0.0.2.1"
points     places where something is open, and what may be taken there
windows    the same for windows: locks, and atomic operations
past       which choices an event comes after, and which processes they may have touched
notes      keeps both, by what the loop and the wire tell
told       what ranks were told, as one number
mailbox    matches at once what is certain, and leaves wildcards open
wire       the delivery and the loop of a run that is steered
choices    asked when nothing else can happen: lists what is open, and has one thing done

In a run that is steered nothing is decided by time. Whatever is certain happens first. When nothing else can, all that is
open is listed, in an order that hangs on the program alone, and a chooser takes one: a token, or the search of `explore`.
"""
