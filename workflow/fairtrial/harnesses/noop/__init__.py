"""The noop harness does nothing: it shows that a task is not solved at the start."""
