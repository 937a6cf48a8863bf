"""The route that tries a text."""

from __future__ import annotations

from fastapi import APIRouter

from curation.explain import explain_text
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import DEFAULT_PROFILE, Profile, bind_profile, load_profile
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.context import Context, ContextDep
from primer.app.core.errors import Unprocessable
from primer.app.jobs.repository import read_profile
from primer.app.texts.meters import load_meters
from primer.app.texts.schemas import ExplanationView, TextRequest

router = APIRouter(tags=["texts"])


@router.post("/texts/try", summary="Measure and decide a text under any profile; nothing is kept")
def try_text(body: TextRequest, context: ContextDep, actor: ActorDep) -> ExplanationView:
    actor.require(Action.READ)
    try:
        body.text.encode()
    except UnicodeEncodeError as error:
        raise Unprocessable(
            f"The text has a lone surrogate at character {error.start}.", hint="Send well-formed Unicode."
        ) from None
    loaded = load_meters()
    bound = bind_profile(_choose_profile(context, body), loaded.recipe)
    found = explain_text(body.text, loaded.meters, bound, PLAIN_VOCABULARY)
    return ExplanationView.model_validate(found.to_json())


def _choose_profile(context: Context, body: TextRequest) -> Profile:
    if body.profile is not None:
        return body.profile
    if body.profile_id is None:
        return load_profile(DEFAULT_PROFILE)
    with context.database.reading() as session:
        return read_profile(session, body.profile_id)
