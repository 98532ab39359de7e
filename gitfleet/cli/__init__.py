"""cli: commands as short stories: parse, ask, show."""
