"""Machine code for ordered lists of statements, and the loops around them, as LLVM text."""
