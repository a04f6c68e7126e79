"""Recurrence relations: graphs of equivalent formulas, and the ordered lists of statements that
compute them.
"""
