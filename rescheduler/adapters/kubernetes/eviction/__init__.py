"""A live cluster as something that a plan can be carried out on."""
