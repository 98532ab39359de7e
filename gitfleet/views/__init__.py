"""What people are shown of the state and of plans, and the texts it is shown in."""
