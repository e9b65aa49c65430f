"""Signing in at the provider of a house (OpenID Connect): what is asked of it, and believed."""
