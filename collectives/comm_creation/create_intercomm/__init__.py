"""Agreement on an intercommunicator of two groups, by their leaders."""
