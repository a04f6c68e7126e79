"""Kernels of loops: Python source in, statements of `ir.loops` out.

What a program means is what CPython makes of it: Python's numbers are int64 and float64, elements
of arrays are NumPy's scalars, and both meet by NumPy's rules (NEP 50).
"""
