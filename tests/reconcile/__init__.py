"""The composition of the deciding packages, part by part; whole passes are scenarios."""
