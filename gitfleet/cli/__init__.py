"""cli: the commands: parse, request, result, render."""
