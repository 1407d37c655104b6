"""Fields that only ``run`` obeys."""
