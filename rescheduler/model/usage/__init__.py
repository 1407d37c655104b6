"""What nodes and pods use: measured, predicted, and how far it may be believed."""
