"""The figures as Prometheus reads them, made anew at each scrape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from curation.stages import STAGES
from primer.app.core.context import Context
from primer.app.status.figures import Figures, read_figures

CONTENT_TYPE = CONTENT_TYPE_LATEST


def render_metrics(context: Context) -> bytes:
    return generate_latest(_make_registry(context))


@contextmanager
def serving_metrics(context: Context) -> Iterator[None]:
    """Inside, the figures are served to anybody at the address of their own that the settings name, if they do."""
    if context.settings.metrics_bind is None:
        yield
        return
    host, _, port = context.settings.metrics_bind.rpartition(":")
    server, thread = start_http_server(int(port), host, _make_registry(context))
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_registry(context: Context) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_FiguresCollector(context))
    return registry


class _FiguresCollector(Collector):
    def __init__(self, context: Context) -> None:
        self._context = context

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        return list(_describe(read_figures(self._context)))


def _describe(figures: Figures) -> Iterator[Metric]:
    funnel = figures.funnel
    yield _counter("primer_documents", "Documents measured, by what was decided.", "outcome", funnel.documents)
    yield _counter("primer_tokens", "Tokens of the documents measured, by what was decided.", "outcome", funnel.tokens)
    steps = {str(step["stage"]): step for step in funnel.steps(STAGES)}
    excluded = {stage: int(step["excluded"]) for stage, step in steps.items()}
    left = {stage: int(step["left"]) for stage, step in steps.items()}
    yield _counter(
        "primer_documents_excluded", "Documents excluded first by a stage, in published order.", "stage", excluded
    )
    yield _counter("primer_documents_left", "Documents that a stage and all before it let pass.", "stage", left)
    yield _gauge("primer_jobs", "Jobs by state.", "state", figures.jobs)
    yield _gauge("primer_sources", "Sources by state.", "state", figures.sources)
    tasks = GaugeMetricFamily("primer_tasks", "Tasks by queue and state.", labels=("queue", "state"))
    for (queue, state), count in figures.tasks.items():
        tasks.add_metric((queue, state), count)
    yield tasks
    yield GaugeMetricFamily("primer_slices_in_flight", "Slices being measured now.", figures.slices_in_flight)
    yield _gauge("primer_queue_length", "Tasks that a worker could take now.", "queue", figures.queue_lengths)
    yield _gauge(
        "primer_oldest_unclaimed_task_seconds",
        "Age of the oldest task that a worker could take.",
        "queue",
        figures.oldest_seconds,
    )
    yield CounterMetricFamily("primer_lease_expiries", "Tasks taken back from silent workers.", figures.lease_expiries)


def _counter(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for value, count in values.items():
        family.add_metric((value,), count)
    return family


def _gauge(name: str, text: str, label: str, values: Mapping[Any, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=(label,))
    for value, count in values.items():
        family.add_metric((str(value),), count)
    return family
