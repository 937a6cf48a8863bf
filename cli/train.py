"""`primer train`: makes the models and tables that a recipe measures with. The work is in `curation.training`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.training.make import make_encoder, make_fasttext, make_vocabulary

app = typer.Typer(help="Train the graders and the vocabulary from labelled documents.", no_args_is_help=True)

Data = Annotated[Path, typer.Option(help="A Parquet or JSONL file of training rows, or a folder of labelled data.")]
Out = Annotated[Path, typer.Option(help="The folder for the artefact, its card and its row hashes.")]
Seed = Annotated[int, typer.Option(help="Draws folds, copies and order; the same seed gives the same bytes.")]


@app.command("fasttext")
def train_fasttext_command(data: Data, out: Out, seed: Seed = 1) -> None:
    """Train model.ftz with its card and out-of-fold scores."""
    typer.echo(f"Wrote {make_fasttext(data, out, seed=seed)} and its card.")


@app.command("vocabulary")
def train_vocabulary_command(data: Data, out: Out, seed: Seed = 1) -> None:
    """Score the words of documents beyond K-5 against those of K5 documents, with a card."""
    typer.echo(f"Wrote {make_vocabulary(data, out, seed=seed)} and its card.")


@app.command("encoder")
def train_encoder_command(
    data: Data,
    out: Out,
    base: Annotated[Path, typer.Option(help="The pretrained encoder: a folder in the Hugging Face layout.")],
    seed: Seed = 1,
) -> None:
    """Fine-tune an encoder, write it as ONNX for CPUs, with a card and out-of-fold scores (extra `train`, best on a GPU)."""
    typer.echo(f"Wrote {make_encoder(data, base, out, seed=seed)} and its card.")
