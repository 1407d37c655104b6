"""The control plane that tests run against, and what stands beside it."""
