"""aider: plain text for people; its local analytics log holds exact counts and the end."""
