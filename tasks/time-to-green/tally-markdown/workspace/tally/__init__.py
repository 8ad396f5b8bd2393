"""tally: small questions about CSV files, answered on the command line."""

__version__ = "1.4"
