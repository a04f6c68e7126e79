"""Integrals over Gaussian functions, compiled from their recurrence relations."""
