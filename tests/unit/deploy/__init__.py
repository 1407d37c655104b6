"""What deploy/ holds: image, chart, manifests."""
