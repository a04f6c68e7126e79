"""Statements rewritten before anything is decided: complex numbers, copies, branches, reads."""
