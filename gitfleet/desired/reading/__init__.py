"""reading: files become typed objects, or faults with path, line and field."""
