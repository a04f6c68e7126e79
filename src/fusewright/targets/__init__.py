"""Where compiled code runs; `reference` is the definition the others are tested against."""
