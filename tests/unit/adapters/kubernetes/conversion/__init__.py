"""Tests of the way from API objects to the model."""
