"""The best final places of a few pods under costs that count who stands beside whom, solved exactly."""
