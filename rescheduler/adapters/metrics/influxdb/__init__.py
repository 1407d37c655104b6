"""InfluxDB with Telegraf's fields, in InfluxQL or Flux."""
