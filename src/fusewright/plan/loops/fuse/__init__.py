"""Which neighbouring loops become one, as a whole or strip by strip, and what became of each."""
