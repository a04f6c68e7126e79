"""What is known of a loop: what is live, what is private, what it reads and writes."""
