"""Recurrence relations as a user writes them: families of values, and what is demanded of them."""
