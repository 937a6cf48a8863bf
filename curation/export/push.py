"""Uploading an export to a data set repository of the Hub, in one commit: nobody ever sees half of it.

Resumable: the same call again sends only what the Hub does not have yet. Files of an earlier export in the repository's
folder `data/` go in the same commit, for the card's patterns would take them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from curation.errors import ExportError
from curation.export.manifest import CARD, MANIFEST, list_files, read_manifest
from curation.shards.hub import read_endpoint

MAIN = "main"

_DATA = "data/"
_FILES_AT_ONCE = 8  # between two questions whether to go on: 2 GB of files of the default size
_THREADS = 2


@dataclass(frozen=True)
class Pushed:
    """`commit`: the full hash."""

    commit: str
    url: str


def push_export(
    folder: Path,
    repository: str,
    *,
    revision: str,
    is_private: bool,
    token: str,
    checkpoint: Callable[[], None] = lambda: None,
) -> Pushed:
    """Make the repository (OWNER/NAME) and its branch where they are missing, and commit the export there.

    Raises ExportError when the Hub refuses, and when the repository must be private and is public already. What may pass
    (a lost connection, a server's error) is raised as it comes: the same call goes on from there. `checkpoint` is called
    before every few files.
    """
    # Imported here: the client takes a second to load, and only this needs it.
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    manifest = read_manifest(folder)
    paths = [*(file.path for file in list_files(manifest)), CARD, MANIFEST]
    additions = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path) for path in paths]
    api = HfApi(endpoint=read_endpoint(), token=token)
    with _explaining_refusals(repository):
        try:
            is_public = not api.repo_info(repository, repo_type="dataset").private
        except RepositoryNotFoundError:
            api.create_repo(repository, repo_type="dataset", private=is_private)
            is_public = not is_private
        if is_private and is_public:
            raise ExportError(
                f"The repository {repository} is there already, and public.",
                hint="Choose another, make it private on the Hub, or ask for a public push.",
            )
        if revision != MAIN:
            api.create_branch(repository, repo_type="dataset", branch=revision, exist_ok=True)
        for start in range(0, len(additions), _FILES_AT_ONCE):
            checkpoint()
            api.preupload_lfs_files(
                repository,
                additions[start : start + _FILES_AT_ONCE],
                repo_type="dataset",
                revision=revision,
                num_threads=_THREADS,
                free_memory=False,
            )
        present = api.list_repo_files(repository, repo_type="dataset", revision=revision)
        stale = sorted(path for path in present if path.startswith(_DATA) and path not in set(paths))
        checkpoint()
        commit = api.create_commit(
            repository,
            [*additions, *(CommitOperationDelete(path_in_repo=path, is_folder=False) for path in stale)],
            commit_message=f"Export {manifest['request_sha256'][:12]}",
            commit_description=manifest["statement"],
            repo_type="dataset",
            revision=revision,
            num_threads=_THREADS,
        )
    return Pushed(commit.oid, f"{read_endpoint()}/datasets/{repository}/tree/{revision}")


@contextmanager
def _explaining_refusals(repository: str) -> Iterator[None]:
    """Messages of the client are left out: they quote addresses that carry signatures."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
            raise
        hint = "See whether the address of the repository opens in a browser."
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
            hint = "Set HF_TOKEN, where the workers run, to a token that may write to this repository."
        raise ExportError(f"The Hub refuses to take {repository} (HTTP {status}).", hint=hint) from error
