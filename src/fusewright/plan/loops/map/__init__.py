"""Which loops run on threads and in vectors, and what is collected or carried there."""
