"""PyKokkos' linear algebra."""
