"""What an operator may ask for, as a strict policy file."""
