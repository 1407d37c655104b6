"""What is handed over to an autoscaler, and what it says."""
