"""Commands that plan, predict or explain, and write to no cluster."""
