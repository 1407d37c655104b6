"""Pages in a real browser: what a parser of HTML cannot see."""
