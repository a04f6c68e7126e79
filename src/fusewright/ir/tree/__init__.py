"""The loop tree of a kernel: every loop with how it runs, every decision visible."""
