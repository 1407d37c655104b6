"""The few fields of API objects that are needed, as slim structs decoded straight from bytes."""
