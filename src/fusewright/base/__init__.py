"""What every other room may use: errors, options, source spans and the one hook."""
