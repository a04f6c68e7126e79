"""How a kernel's loops run: in parallel, as one, in strips; the plan that code generation obeys."""
