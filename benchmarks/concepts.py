"""Documents a second of the concept matcher beside two plain ways in the same run: `python -m benchmarks.concepts`.

CPU time of one thread, best of three rounds in turns. The plain ways look for the same forms and confirm no context: one
regular expression of all forms, and one a concept. They are slow, so they read fewer documents; rates are compared.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks.corpus import read_corpus
from benchmarks.machine import describe_machine
from curation.artifacts.artifact_set import resolve_artifacts
from curation.cascade import Meters, measure_batches, sort_postings
from curation.concepts.catalogue import Concept, open_catalogue
from curation.concepts.compile import compile_catalogue, expand_term, expand_verb
from curation.concepts.match import find_concepts
from curation.normalize import normalize
from curation.recipe import build_recipe
from curation.shards.rows import RowBatch

_ROUNDS = 3
_BATCH = 512
MAX_SHARE_OF_RULES = 0.2


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.concepts", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=10.0, help="how much text; 0: all there is")
    parser.add_argument("--plain-documents", type=int, default=20, help="how many documents the plain ways read")
    options = parser.parse_args(arguments)
    corpus = read_corpus(int(options.megabytes * 1e6) or None)
    raw: list[str] = [text for text in corpus.documents["text"].to_pylist() if text is not None]
    sys.stdout.write(json.dumps(measure(raw, options.plain_documents), indent=1) + "\n")


def measure(raw: list[str], plain_documents: int) -> dict[str, object]:
    texts = [normalize(text).text for text in raw]
    few = texts[:plain_documents]
    catalogue = open_catalogue()
    began = time.process_time()
    compiled = compile_catalogue(catalogue)
    _ = compiled.words.scanner, compiled.signs.scanner
    compile_seconds = time.process_time() - began
    forms = {concept.id: _list_forms(concept) for concept in catalogue.concepts}
    alternation = _compile(sorted({form for each in forms.values() for form in each}))
    by_concept = [_compile(each) for each in forms.values()]
    # As the cascade meets them; without the models, so that this is the rule signals' time.
    artifacts = resolve_artifacts().restrict_to({"aoa", "vocabulary"})
    meters = Meters(artifacts, build_recipe(artifacts))

    def find() -> None:
        for start in range(0, len(texts), _BATCH):
            find_concepts(compiled, texts[start : start + _BATCH])

    def measure_rules() -> None:
        batches = [
            RowBatch(start, list(raw[start : start + _BATCH]), [None] * len(raw[start : start + _BATCH]), None)
            for start in range(0, len(raw), _BATCH)
        ]
        sort_postings(list(measure_batches(meters, iter(batches))))

    ways: dict[str, tuple[Callable[[], object], int]] = {
        "matcher": (find, len(texts)),
        "one regular expression of all forms": (lambda: [len(alternation.findall(text)) for text in few], len(few)),
        "one regular expression a concept": (
            lambda: [[len(pattern.findall(text)) for pattern in by_concept] for text in few],
            len(few),
        ),
        "all rule signals": (measure_rules, len(texts)),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(_ROUNDS):
        for name, (way, _count) in ways.items():
            began = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - began)
    rates = {name: ways[name][1] / seconds for name, seconds in best.items()}
    share = rates["all rule signals"] / rates["matcher"]
    return {
        "machine": describe_machine(),
        "documents": len(texts),
        "characters": sum(map(len, texts)),
        "forms": sum(map(len, forms.values())),
        "compile_seconds": compile_seconds,
        "documents_per_second": rates,
        "ratio_to_plain": {name: rates["matcher"] / rates[name] for name in list(ways)[1:3]},
        "share_of_rule_signals": share,
        "is_within": share <= MAX_SHARE_OF_RULES,
    }


def _list_forms(concept: Concept) -> list[str]:
    terms = [*concept.terms, *(term for sense in concept.senses for term in sense.terms)]
    forms = [form for term in terms for form in expand_term(term)]
    forms += [form for term in concept.verbs for form in expand_verb(term)]
    return [form.decode() for form in forms] + [spelling.lower() for spelling in concept.exact]


def _compile(forms: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, forms)) + r")(?!\w)", re.IGNORECASE)


if __name__ == "__main__":
    main()
