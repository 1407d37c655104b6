"""The whole question of room as one model over chosen nodes: built, solved, put in order, cut off and solved again."""
