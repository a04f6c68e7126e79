"""The ways to write a program: rooms that know `ir` and `base`, and not one another."""
