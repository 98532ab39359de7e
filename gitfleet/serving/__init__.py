"""serving: what others are told and what they may ask: forges, notifications, webhooks, probes and metrics."""
