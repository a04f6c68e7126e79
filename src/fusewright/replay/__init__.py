"""`fw.jit`: a function recorded once for each structure of its arguments, then replayed without
running its Python code.
"""
