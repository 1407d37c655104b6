"""Elasticsearch and OpenSearch with Metricbeat's fields."""
