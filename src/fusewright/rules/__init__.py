"""Rewrite tables: what an expression may be replaced by, and why the value stays the same."""
