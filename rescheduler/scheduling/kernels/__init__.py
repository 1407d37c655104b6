"""Filter and score one pod on all nodes in a few passes over columns, where no other pod's place matters."""
