"""The git adapter and its fake: one contract suite over both, then what only real git can show."""
