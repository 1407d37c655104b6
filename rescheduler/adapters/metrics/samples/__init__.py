"""From what sources say of hosts and containers to samples of nodes and pods."""
