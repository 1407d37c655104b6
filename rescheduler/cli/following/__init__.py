"""A plan on its way, shown while it is carried out: one module keeps what is known, the other shows it, each way."""
