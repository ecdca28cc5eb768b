"""Time and tasks, and nothing else: agenda, task, loop, and two carriers of tasks, greenlets and threads."""
