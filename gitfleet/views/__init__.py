"""views: what people are shown of the state and of plans, and the texts it is shown in.

table_of, objects_of, kinds, check_kind         what `get` shows: typed views (`models`) read through a StateReader
describe_lines(object)                          what `describe` prints
markdown_table(table), html_page(title, table)  a table for other readers; the terminal's is in `cli`
readme_text(state)                              README.md of the state branch
plan_document(...)                              `plan -o json`
"""

from gitfleet.views.description import describe_lines
from gitfleet.views.html import html_page
from gitfleet.views.kinds import check_kind, kinds, objects_of, table_of
from gitfleet.views.markdown import markdown_table
from gitfleet.views.plan_document import plan_document
from gitfleet.views.readme import readme_text
from gitfleet.views.tables import Table, age

__all__ = [
    "Table",
    "age",
    "check_kind",
    "describe_lines",
    "html_page",
    "kinds",
    "markdown_table",
    "objects_of",
    "plan_document",
    "readme_text",
    "table_of",
]
