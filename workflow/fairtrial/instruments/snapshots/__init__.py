"""The workspace over time: captured whenever it changes, kept by content, compared and restored."""
