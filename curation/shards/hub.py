"""Data sets on the Hugging Face Hub: what a source's address means, and the shards behind it at one commit.

Downloading lives elsewhere. Invariant: every address handed out names a commit, never a branch; the token goes to the
Hub's own origin only and appears in no address and no message.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2 as httpx
from huggingface_hub import constants, get_token, hf_hub_url, is_offline_mode, parse_hf_uri
from huggingface_hub.errors import HfUriError

from curation.errors import SourceError
from curation.shards.dataset_card import choose_config, read_card_configs
from curation.shards.http_file import check_status, open_client, translate_http_errors
from curation.shards.path_patterns import assign_splits, find_static_folder, is_match, select_paths
from curation.shards.remote_shard import RemoteShard, is_data_file
from curation.shards.retries import RetryPolicy, run_with_retries

_FORM = "Write hf://datasets/OWNER/NAME[@REVISION][/PATH]; PATH may be a folder, a file or a pattern with *."


@dataclass(frozen=True)
class HubSource:
    """`repository` is OWNER/NAME; `revision` None: the default branch; `path` "" : the whole repository."""

    repository: str
    revision: str | None
    path: str

    @property
    def label(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        return f"hf://datasets/{self.repository}{revision}" + (f"/{self.path}" if self.path else "")


@dataclass(frozen=True)
class _RepoFile:
    size_bytes: int
    sha256: str | None


def parse_hub_url(url: str) -> HubSource:
    """The parts of `hf://datasets/OWNER/NAME[@REVISION][/PATH]`; a slash in REVISION is written %2F."""
    try:
        if not url.startswith(constants.HF_PROTOCOL):
            raise HfUriError(url, "It does not start with hf://.")
        uri = parse_hf_uri(url.rstrip("/"))
    except HfUriError as error:
        raise SourceError(f"{url!r} names no data set on the Hub.", hint=_FORM) from error
    segments = uri.path_in_repo.split("/")
    if uri.type != "dataset":
        raise SourceError(f"{url!r} names a {uri.type}, not a data set.", hint=_FORM)
    if not {".", ".."}.isdisjoint(segments) or any("**" in part and part != "**" for part in segments):
        raise SourceError(f"{url!r} has a path that cannot be matched.", hint=_FORM)
    return HubSource(uri.id, uri.revision, uri.path_in_repo)


def read_endpoint() -> str:
    """HF_ENDPOINT as it is now, else what huggingface_hub settled on."""
    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def build_hub_headers(url: str) -> dict[str, str]:
    """Headers for a request to `url`: with the token where the url is the Hub's, without for any other origin."""
    headers = {"User-Agent": "primer"}
    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    if token and urlsplit(url)[:2] == urlsplit(read_endpoint())[:2]:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def list_hub_shards(
    source: HubSource, *, config: str | None = None, split: str | None = None, policy: RetryPolicy | None = None
) -> list[RemoteShard]:
    """The data files of the source at the commit its revision names now, sorted by path.

    `config` None: the card's default, or all files under `source.path` where one is given. `split` None: every split.
    With both a path and a config, files must belong to both. Raises SourceError that lists the choices when config or
    split is unknown or ambiguous, and when no file is left.
    """
    if is_offline_mode():
        raise SourceError(f"{source.label}: HF_HUB_OFFLINE is set.", hint="Unset it, or use a local copy.")
    policy = policy or RetryPolicy()
    with open_client(policy) as client:
        repository = _Repository(source, policy, client)
        if source.path and config is None:
            folder = find_static_folder(source.path)
            files = repository.list_files([folder])
            wanted = select_paths(files, [source.path])
            by_split = {None: wanted} if split is None else _assign_splits_below(wanted, folder)
        else:
            chosen = choose_config(read_card_configs(repository.read_readme(), source.label), config, source.label)
            if chosen.splits is None:
                files = repository.list_files([chosen.folder])
                by_split = _assign_splits_below(files, chosen.folder)
            else:
                patterns_by_split = _choose_splits(chosen.splits, split, source.label)
                files = repository.list_files(map(find_static_folder, chain.from_iterable(patterns_by_split.values())))
                by_split = {name: select_paths(files, patterns) for name, patterns in patterns_by_split.items()}
        chosen_paths = chain.from_iterable(_choose_splits(by_split, split, source.label).values())
        wanted = sorted({path for path in chosen_paths if is_match(source.path, path)})
    if not wanted:
        raise SourceError(
            f"{source.label}: no data files there at commit {repository.commit}.",
            hint="Parquet (.parquet) and line-delimited JSON (.jsonl, .jsonl.gz, .jsonl.zst, .json.gz) can be read.",
        )
    return [repository.build_shard(path, files[path]) for path in wanted]


def explain_refusal(label: str, response: httpx.Response) -> SourceError:
    """The error for a status of the Hub that no retry can change, with what to do about it."""
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    repository = "/".join(label.removeprefix("hf://datasets/").partition("@")[0].split("/")[:2])
    page = f"{read_endpoint()}/datasets/{repository}"
    if code == "GatedRepo" or status == 403:
        return SourceError(
            f"{label}: access is gated or forbidden (HTTP {status}).",
            hint=f"Accept its terms at {page} and set HF_TOKEN to a token of that account.",
        )
    if status == 401:
        return SourceError(
            f"{label}: the Hub asks who you are (HTTP 401): the data set is private or gated, or does not exist.",
            hint=f"Check the name, accept its terms at {page} if it is gated, and set HF_TOKEN.",
        )
    if code == "RevisionNotFound":
        return SourceError(f"{label}: there is no such revision.", hint=f"Choose a branch, tag or commit of {page}.")
    if code == "EntryNotFound":
        return SourceError(f"{label}: there is no such file or folder.", hint=f"Look at the files of {page}.")
    if status == 404:
        return SourceError(
            f"{label}: there is no such data set.", hint="Check OWNER/NAME; set HF_TOKEN if it is private."
        )
    return SourceError(f"{label}: the Hub answers HTTP {status}.", hint=f"See whether {page} opens in a browser.")


def _assign_splits_below(paths: Iterable[str], folder: str) -> dict[str | None, list[str]]:
    """Splits by names, where only the names below the folder count, as load_dataset(data_dir=...) has it."""
    prefix = f"{folder}/" if folder else ""
    by_name = {path.removeprefix(prefix): path for path in paths}
    return {split: [by_name[name] for name in names] for split, names in assign_splits(by_name).items()}


def _choose_splits(by_split: Mapping[Any, Sequence[str]], split: str | None, label: str) -> Mapping[Any, Sequence[str]]:
    if split is None:
        return by_split
    if split not in by_split:
        raise SourceError(
            f"{label}: has no split {split!r}.", hint=f"Its splits: {', '.join(sorted(by_split)) or 'none'}."
        )
    return {split: by_split[split]}


class _Repository:
    """The Hub's API for one data set. Used instead of HfApi, whose listing has no time limit and whose look-up of a
    revision is never retried."""

    def __init__(self, source: HubSource, policy: RetryPolicy, client: httpx.Client) -> None:
        self.source = source
        self.policy = policy
        self.client = client
        self.endpoint = read_endpoint()
        self.api_url = f"{self.endpoint}/api/datasets/{source.repository}"
        self.commit = self._read_commit()

    def _read_commit(self) -> str:
        revision = self.source.revision
        url = self.api_url if revision is None else f"{self.api_url}/revision/{quote(revision, safe='')}"
        answer = self._get(f"{url}?expand=sha").json()
        commit = answer.get("sha") if isinstance(answer, dict) else None
        if not isinstance(commit, str) or not commit.isalnum():
            raise SourceError(f"{self.source.label}: the Hub names no commit.", hint="Check HF_ENDPOINT.")
        return commit

    def read_readme(self) -> str:
        """The card, "" where there is none."""
        response = self._get(self._resolve("README.md"), is_optional=True)
        return "" if response.status_code == 404 else response.text

    def list_files(self, folders: Iterable[str]) -> dict[str, _RepoFile]:
        """Data files below the folders (one that does not exist has none); for a file, those beside it too.

        Asks for plain entries: they carry size and LFS hash, and come 1,000 a page where expanded ones come 50.
        """
        places = {folder.rpartition("/")[0] if is_data_file(folder) else folder for folder in folders}
        files: dict[str, _RepoFile] = {}
        for folder in _drop_nested(places):
            for entry in self._list_entries(folder):
                if entry["type"] == "file" and is_data_file(entry["path"]):
                    lfs = entry.get("lfs") or {}
                    files[entry["path"]] = _RepoFile(lfs.get("size", entry["size"]), lfs.get("oid"))
        return files

    def _list_entries(self, folder: str) -> Iterator[dict[str, Any]]:
        place = f"/{quote(folder, safe='')}" if folder else ""
        url: str | None = f"{self.api_url}/tree/{self.commit}{place}?recursive=true&expand=false"
        while url is not None:
            response = self._get(url, is_optional=True)
            if response.status_code == 404:
                return
            yield from response.json()
            url = response.links.get("next", {}).get("url")

    def build_shard(self, path: str, file: _RepoFile) -> RemoteShard:
        uri = f"hf://datasets/{self.source.repository}@{self.commit}/{path}"
        return RemoteShard(uri, path, file.size_bytes, file.sha256, self.commit, self._resolve(path))

    def _resolve(self, path: str) -> str:
        return hf_hub_url(
            self.source.repository, path, repo_type="dataset", revision=self.commit, endpoint=self.endpoint
        )

    def _get(self, url: str, *, is_optional: bool = False) -> httpx.Response:
        """One page; with `is_optional` a missing entry is an answer, every other refusal stays an error."""

        def request() -> httpx.Response:
            with translate_http_errors(self.source.label):
                response = self.client.get(url, headers=build_hub_headers(url))
                is_missing = response.status_code == 404 and response.headers.get("X-Error-Code") == "EntryNotFound"
                if not (is_optional and is_missing):
                    check_status(response, self.source.label, explain_refusal)
                return response

        return run_with_retries(request, label=self.source.label, policy=self.policy)


def _drop_nested(folders: set[str]) -> list[str]:
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(parent == "" or folder.startswith(f"{parent}/") for parent in kept):
            kept.append(folder)
    return kept
