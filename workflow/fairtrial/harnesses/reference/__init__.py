"""The reference harness plays the task's own solution: it shows that a task can be solved."""
