"""A plan or a result told as table, JSON, YAML or HTML, refusals included."""
