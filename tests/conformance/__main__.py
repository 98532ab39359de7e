"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.conformance.runner import run


def main() -> int:
    """Exit status 0 when every case passed, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--show", metavar="ID", help="print the difference of one case")
    arguments = parser.parse_args()
    results = run(arguments.paths)
    total = Counter(result.area for result in results)
    failed = Counter(result.area for result in results if result.difference is not None)
    for area in sorted(total):
        print(f"{area}: {total[area] - failed[area]}/{total[area]}")
    for result in results:
        if arguments.show == result.case_id:
            print(f"{result.case_id}: {result.difference or 'no difference'}")
    print(f"{total.total() - failed.total()} passed, {failed.total()} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
