"""What a worker's Redis channel leaves alone once its connection is lost, so that the worker outlives its broker.

Kombu would acknowledge and give back messages through the channel that is closed, which raises what ends a worker.
Neither is needed: the database knows what waits, and the steward announces it again.
"""

from __future__ import annotations

from kombu.transport import redis


class _Acknowledgements(redis.QoS):
    restore_at_shutdown = False

    def ack(self, delivery_tag: str) -> None:
        if not self.channel.closed:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if not self.channel.closed:
            super().reject(delivery_tag, requeue=requeue)  # type: ignore[no-untyped-call]


def outlive_broker() -> None:
    """Let every Redis channel of this process do so. Safe to repeat."""
    redis.Channel.QoS = _Acknowledgements
