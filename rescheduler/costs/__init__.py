"""What nodes cost: the price of each, and of a cluster before and after a plan. Pure, and knows no planner."""
