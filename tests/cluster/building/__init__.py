"""Programs of the test control plane, built from published modules and kept by their content."""
