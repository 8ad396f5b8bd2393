"""pi: `pi --mode json -p`; the exit status is always 0."""
