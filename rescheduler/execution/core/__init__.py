"""What is to be done next while a plan is carried out: states and events in, states and actions out."""
