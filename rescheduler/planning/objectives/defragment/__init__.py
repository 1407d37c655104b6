"""Making room for large shapes by few moves: changes of whole hosts, chosen by column generation; pure on arrays."""
