"""The fields of a policy: pydantic models, one file a part of the document."""
