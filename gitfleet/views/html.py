"""HTML pages: no script, nothing loaded from anywhere, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from gitfleet.views.tables import Table

_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1c2733;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}code,pre{font-family:ui-monospace,monospace;font-size:13px}
table{border-collapse:collapse}th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #d5dce3}
@media (prefers-color-scheme:dark){body{background:#14191f;color:#dde4ea}th,td{border-color:#27303a}}
"""


def html_document(title: str, body: Iterable[str], *, style: str = "") -> str:
    """A whole page; the lines of the body are HTML already, and `style` is added to what all pages have."""
    lines = (
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}{style}</style></head><body>",
        *body,
        "</body></html>",
    )
    return "".join(f"{line}\n" for line in lines)


def html_table(table: Table) -> list[str]:
    """The lines of a table."""
    head = "".join(f"<th>{escape(title)}</th>" for title in table.columns)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table.rows)
    return [f"<table><tr>{head}</tr>", *(f"<tr>{row}</tr>" for row in rows), "</table>"]


def html_page(title: str, table: Table) -> str:
    """A page with one table."""
    return html_document(title, [f"<h1>{escape(title)}</h1>", *html_table(table)])
