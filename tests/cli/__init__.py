"""The command line as people meet it: whole outputs, exit codes, formats, and every command that the pages show."""
