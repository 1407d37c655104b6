"""Array planners that serve benchmarks on open data: fewest moves, most nodes, packing by priority, relief."""
