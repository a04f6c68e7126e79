"""What exists while a program runs: memory, object code, the cache, the record of what happened."""
