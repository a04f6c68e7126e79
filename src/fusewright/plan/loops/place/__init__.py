"""Where values live: elements as variables, arrays in strips or nowhere."""
