"""The objectives that a policy can name, each as a question that a planner answers: one file an objective."""
