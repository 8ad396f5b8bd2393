"""GitButler's command line."""
