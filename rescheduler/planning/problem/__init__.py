"""The question as arrays: what may move, what waits, what is free; and the one form of request and answer."""
