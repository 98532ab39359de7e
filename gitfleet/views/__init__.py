"""views: what people are shown of the state and of plans, and the texts it is shown in.

table_of, objects_of, kinds, describe_lines     what `get` and `describe` show
readme_text(state)                              README.md of the state branch
plan_document(...)                              `plan -o json`
"""

from gitfleet.views.kinds import Table, age, describe_lines, kinds, objects_of, table_of
from gitfleet.views.plan_document import plan_document
from gitfleet.views.readme import readme_text

__all__ = ["Table", "age", "describe_lines", "kinds", "objects_of", "plan_document", "readme_text", "table_of"]
