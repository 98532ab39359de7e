"""web: read-only pages and the webhook receiver. Nothing lives here yet; the dashboard is part of a later issue."""
