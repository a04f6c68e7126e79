"""Doors for programs written for other libraries; none is imported unless it is named."""
