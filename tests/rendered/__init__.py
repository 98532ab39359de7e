"""The rendered branch's files."""
