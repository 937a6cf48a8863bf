"""Routes of artefacts. All of them only read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from curation.artifacts.artifact_set import Kind
from primer.app.artifacts.bundle import REPORTS, read_bundle, read_report
from primer.app.artifacts.schemas import ArtifactList, ArtifactView, CardView, ReportView
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.errors import NotFound

router = APIRouter(prefix="/artifacts", tags=["artifacts"])


@router.get("", summary="The models and tables that come with the service")
def list_artifacts(actor: ActorDep) -> ArtifactList:
    actor.require(Action.READ)
    items = [
        ArtifactView(
            kind=kind,
            title=found.title,
            file=found.artifact.path.name,
            sha256=found.artifact.sha256,
            size_bytes=found.size_bytes,
            origin=found.artifact.origin,
            licence=found.licence,
            made_on=found.made_on,
        )
        for kind, found in read_bundle().items()
    ]
    return ArtifactList(items=items, reports=list(REPORTS))


@router.get("/{kind}/card", summary="What one is, what it was made from, and what it does badly")
def read_card(kind: Kind, actor: ActorDep) -> CardView:
    actor.require(Action.READ)
    found = read_bundle().get(kind)
    if found is None:
        raise NotFound(f"There is no {kind} artefact.", hint="See the list of artefacts.")
    card = found.card
    return CardView(kind=kind, title=found.title, text=card.text, is_markdown=card.is_markdown, facts=card.facts)


@router.get("/reports/{name}", summary="How well they do, as it was measured")
def show_report(name: Annotated[str, Path(max_length=50)], actor: ActorDep) -> ReportView:
    actor.require(Action.READ)
    return ReportView(name=name, text=read_report(name))
