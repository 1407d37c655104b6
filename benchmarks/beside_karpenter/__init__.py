"""The fleet's price after our moves beside that after Karpenter's own consolidation, from the same start."""
