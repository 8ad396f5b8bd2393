"""Figures of speed, each a file with LIMITS and measure(); `make bench` runs them and writes bench.json."""
