"""Reading a large cluster page by page: made up, served, and measured."""
