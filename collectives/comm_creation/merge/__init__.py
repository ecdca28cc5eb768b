"""Agreement on one communicator of the two groups of an intercommunicator."""
