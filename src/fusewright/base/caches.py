"""The one fact about the machine that is needed before its record is read, and mostly instead."""

least_past = 1 << 24
"""Bytes of a result below which no machine writes it past the caches; the number of the machine at
hand once its record has been read (`machine.record`).
"""
