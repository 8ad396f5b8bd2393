"""The stand-in simulates an agent, seeded per attempt; its numbers are never pooled with measured ones."""
