"""`python -m gitfleet` is `gitfleet`."""

from gitfleet.cli.main import main

main()
