"""Plain git."""
