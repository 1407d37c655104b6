"""A plan or its result, told to people: gain, price, nodes, moves and refusals."""
