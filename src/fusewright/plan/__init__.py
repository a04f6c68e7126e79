"""The decisions: what is inlined, which stages become one kernel, where each intermediate lives."""
