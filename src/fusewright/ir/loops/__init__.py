"""Kernels of loops: structured statements over buffers, as the user wrote them."""
