"""Any program that takes a prompt on its command line or its standard input."""
