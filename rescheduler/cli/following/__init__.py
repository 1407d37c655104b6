"""A plan on its way, shown while it is carried out: one module keeps what is known, the others each show it their way."""
