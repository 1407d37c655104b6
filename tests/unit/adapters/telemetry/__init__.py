"""Tests of what a daemon tells: log, metrics, Events, audit file, traces."""
