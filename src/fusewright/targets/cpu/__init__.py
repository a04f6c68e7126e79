"""The CPU target: LLVM text to machine code, in this process and without a system compiler."""
