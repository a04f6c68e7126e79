"""Work units as one more dialect of kernels: Python's syntax with the types of C++.

A work unit's tree is rewritten into the kernel language (`rewrite`, `closures`, `teams`), loops are
put around it (`drivers`), and the kernel front end translates the rest by C's rules (`rules`,
`functions`).
"""
