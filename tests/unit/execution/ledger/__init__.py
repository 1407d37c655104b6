"""Tests of ``execution/ledger/``."""
