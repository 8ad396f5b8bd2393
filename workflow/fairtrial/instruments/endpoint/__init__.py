"""The loopback model endpoint of one attempt: a meter in front of the provider, or the rehearsal model itself."""
