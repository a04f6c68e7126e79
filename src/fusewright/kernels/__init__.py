"""`@fw.kernel`: loops in Python, compiled for the types they are called with."""
