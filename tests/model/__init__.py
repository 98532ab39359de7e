"""What the values of the model say of themselves."""
