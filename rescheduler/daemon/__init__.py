"""What runs without a person: rounds of looking, planning and carrying out, each within everything that binds."""
