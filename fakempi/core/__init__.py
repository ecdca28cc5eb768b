"""The engine: kernel (time and tasks), network (mailboxes, ports, cost models), hooks, reports, and `run`."""
