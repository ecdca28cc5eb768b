"""Tasks in virtual time: agenda, task, loop, and two backends, greenlets and threads."""
