"""Agreement on a communicator of some ranks."""
