"""Tests of the models that OR-Tools solves."""
