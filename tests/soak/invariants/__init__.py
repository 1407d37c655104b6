"""The invariants, one small file each, judged against the truth and never through the product's own code."""
