"""API objects: the few fields that are needed, decoded straight from bytes, and made into the model's."""
