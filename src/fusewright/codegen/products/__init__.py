"""Products of matrices as machine code: register tiles, packing, and the loops around them."""
