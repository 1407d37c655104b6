"""What happens in the world by itself, drawn from the seed: to workloads, nodes, budgets and components."""
