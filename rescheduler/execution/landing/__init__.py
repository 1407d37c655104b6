"""What becomes of moved pods: where replacements come to stand, and how that is told."""
