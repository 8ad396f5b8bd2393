"""Factors. Generated from the master list on 2024-02-11; do not edit."""

METRES = {"cm": 0.01, "ft": 0.3048, "in": 0.0254, "km": 1000.0, "m": 1.0, "mm": 0.001}
GRAMS = {"g": 1.0, "kg": 1000.0, "lb": 453.59237, "mg": 0.001, "st": 6350.29318}
SECONDS = {"d": 86400, "h": 3600, "min": 60, "s": 1}
