"""Many clusters side by side: a plan for each, by itself and read only; one that does not answer spoils nothing."""
