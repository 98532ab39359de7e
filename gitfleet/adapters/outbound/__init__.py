"""The ways out of the process that rollouts use: webhooks, and metric providers.

AllowedHttp       HTTP to the hosts that the operator allowed, and to no others
HttpWebhooks      webhooks by it, signed
Prometheus        the built-in metric provider
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.adapters.outbound.http import AllowedHttp, HttpWebhooks
from gitfleet.adapters.outbound.prometheus import Prometheus
from gitfleet.ports.metric_providers import MetricProviderFactory

BUILT_IN: Final[Mapping[str, MetricProviderFactory]] = {"prometheus": Prometheus}

__all__ = ["BUILT_IN", "AllowedHttp", "HttpWebhooks", "Prometheus"]
