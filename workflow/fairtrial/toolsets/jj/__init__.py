"""Jujutsu beside git in one repository."""
