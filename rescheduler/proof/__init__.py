"""The independent checker: re-proves a plan and shares no code with what made it."""
