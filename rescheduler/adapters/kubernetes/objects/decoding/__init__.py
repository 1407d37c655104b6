"""From an answer's bytes to fields that can be trusted; what cannot be represented is set aside."""
