"""mini-swe-agent: its trajectory file is the transcript; caps of its own for turns and dollars."""
