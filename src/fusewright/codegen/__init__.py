"""Loop trees to target text: today LLVM IR."""
