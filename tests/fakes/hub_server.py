"""A Hub and its CDN on two local ports, speaking the documented HTTP API, with faults that can be switched on.

Uploads go the way of Git LFS (HF_HUB_DISABLE_XET=1): preupload, batch, PUT to the CDN, one commit.

The forms (paths, headers, Link pages, error codes) are those of the Hub's API as its public client reads them. Every
request is recorded, so that a test can also say what must not have been asked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs, quote, unquote, urlsplit

REPOSITORY = "owner/name"
TOKEN = "hf_secretsecretsecret"
CONTENT = random.Random(7).randbytes(900_000)


def name_commit(text: str) -> str:
    """Forty hex digits, as a commit has."""
    return hashlib.sha1(text.encode()).hexdigest()


@dataclass(frozen=True)
class Fault:
    """What one request meets instead of its file: a status, or a body that stops, hangs or lies."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut_after_bytes: int | None = None
    stall_after_bytes: int | None = None
    is_corrupt: bool = False


@dataclass(frozen=True)
class Recorded:
    origin: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]


class HubServer:
    """`files` maps path to bytes at the commit of `main`; paths in `plain_paths` are in git itself, not in LFS."""

    def __init__(self, files: dict[str, bytes], *, commit: str = name_commit("first"), page_size: int = 1000) -> None:
        self.commits = {commit: files}
        self.branches = {"main": commit}
        self.page_size = page_size
        self.plain_paths = {"README.md"}
        self.is_gated = False
        self.has_ranges = True
        self.has_etags = True
        self.honours_if_range = True
        self.api_faults: deque[Fault] = deque()
        self.data_faults: deque[Fault] = deque()
        self.requests: list[Recorded] = []
        self.is_created = True
        self.is_private = False
        self.needs_token = False
        self.lfs_objects: dict[str, bytes] = {}
        self.upload_faults: deque[Fault] = deque()
        self.released = threading.Event()
        self._servers = {
            origin: ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler(origin)) for origin in ("hub", "cdn")
        }
        self.url = f"http://127.0.0.1:{self._servers['hub'].server_port}"
        # Another host name and port: another origin, as the CDN is.
        self.cdn_url = f"http://localhost:{self._servers['cdn'].server_port}"

    def __enter__(self) -> HubServer:
        for server in self._servers.values():
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def find_requests(self, origin: str, part: str = "") -> list[Recorded]:
        return [request for request in self.requests if request.origin == origin and part in request.path]

    def read_ranges(self) -> list[str | None]:
        """The Range header of every request that reached the CDN, in order."""
        return [request.headers.get("range") for request in self.find_requests("cdn")]

    def _make_handler(self, origin: str) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Recorded(origin, unquote(parts.path), parse_qs(parts.query), headers)
                hub.requests.append(request)
                if origin == "cdn":
                    hub.answer_cdn(self, request)
                elif request.path.startswith("/api/"):
                    hub.answer_api(self, request)
                else:
                    hub.answer_resolve(self, request)

            def do_POST(self) -> None:
                self._upload()

            def do_PUT(self) -> None:
                self._upload()

            def _upload(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length", "0")))
                parts = urlsplit(self.path)
                request = Recorded(origin, unquote(parts.path), parse_qs(parts.query), headers)
                hub.requests.append(request)
                if origin == "cdn":
                    hub.take_object(self, request, body)
                else:
                    hub.answer_upload(self, request, body)

        return Handler

    def answer_api(self, handler: _Handler, request: Recorded) -> None:
        fault = self.api_faults.popleft() if self.api_faults else None
        if fault is not None:
            handler.send(fault.status or 500, b"", fault.headers)
            return
        base = f"/api/datasets/{REPOSITORY}"
        rest = request.path.removeprefix(base)
        if not request.path.startswith(base) or not self.is_created:
            handler.send(401, b"", {"X-Error-Code": "RepoNotFound"})
        elif rest == "" or rest.startswith("/revision/"):
            revision = rest.removeprefix("/revision/") or "main"
            commit = self.branches.get(revision, revision)
            if commit in self.commits:
                answer = {"id": REPOSITORY, "sha": commit, "private": self.is_private}
                handler.send(200, json.dumps(answer).encode())
            else:
                handler.send(404, b"", {"X-Error-Code": "RevisionNotFound"})
        else:
            commit, _, folder = rest.removeprefix("/tree/").partition("/")
            self._answer_tree(handler, request, self.branches.get(commit, commit), folder)

    def _answer_tree(self, handler: _Handler, request: Recorded, commit: str, folder: str) -> None:
        prefix = f"{folder}/" if folder else ""
        files = self.commits[commit]
        entries = [self._describe(path, files[path]) for path in files if path.startswith(prefix)]
        folders = {path.rpartition("/")[0] for path in files if path.startswith(prefix)} - {"", folder}
        entries += [{"type": "directory", "oid": name_commit(name), "size": 0, "path": name} for name in folders]
        if not entries and folder:
            handler.send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        entries.sort(key=lambda entry: str(entry["path"]))
        start = int(request.query.get("cursor", ["0"])[0])
        headers = {}
        if start + self.page_size < len(entries):
            following = f"{self.url}{quote(request.path)}?recursive=true&expand=false&cursor={start + self.page_size}"
            headers["Link"] = f'<{following}>; rel="next"'
        handler.send(200, json.dumps(entries[start : start + self.page_size]).encode(), headers)

    def _describe(self, path: str, content: bytes) -> dict[str, object]:
        entry: dict[str, object] = {"type": "file", "oid": name_commit(path), "size": len(content), "path": path}
        if path not in self.plain_paths:
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
        return entry

    def answer_upload(self, handler: _Handler, request: Recorded, body: bytes) -> None:
        base = f"/api/datasets/{REPOSITORY}"
        if self.needs_token and request.headers.get("authorization") != f"Bearer {TOKEN}":
            handler.send(401, b"{}")
        elif request.path == "/api/validate-yaml":
            handler.send(200, b"{}")
        elif request.path == "/api/repos/create":
            self._create(handler, json.loads(body))
        elif request.path == f"/datasets/{REPOSITORY}.git/info/lfs/objects/batch":
            objects = [self._offer(entry) for entry in json.loads(body)["objects"]]
            handler.send(200, json.dumps({"transfer": "basic", "objects": objects}).encode())
        elif request.path == "/lfs-verify":
            is_there = json.loads(body)["oid"] in self.lfs_objects
            handler.send(200 if is_there else 404, b"{}")
        elif request.path.startswith(f"{base}/branch/"):
            self._add_branch(handler, request.path.rpartition("/")[2])
        elif request.path.startswith(f"{base}/preupload/"):
            files = self.commits[self.branches[request.path.rpartition("/")[2]]]
            found = [self._classify(entry["path"], files) for entry in json.loads(body)["files"]]
            handler.send(200, json.dumps({"files": found}).encode())
        elif request.path.startswith(f"{base}/commit/"):
            self._commit(handler, request.path.rpartition("/")[2], body)
        else:
            handler.send(404, b"{}")

    def _create(self, handler: _Handler, asked: dict[str, str]) -> None:
        answer = json.dumps({"url": f"{self.url}/datasets/{asked['organization']}/{asked['name']}"}).encode()
        if f"{asked['organization']}/{asked['name']}" != REPOSITORY:
            handler.send(403, b"{}")
        elif self.is_created:
            handler.send(409, answer)
        else:
            self.is_created, self.is_private = True, asked.get("visibility") == "private"
            handler.send(200, answer)

    def _add_branch(self, handler: _Handler, name: str) -> None:
        status = 409 if name in self.branches else 200
        self.branches.setdefault(name, self.branches["main"])
        handler.send(status, b"{}")

    def _classify(self, path: str, files: dict[str, bytes]) -> dict[str, object]:
        mode = "lfs" if path.endswith(".parquet") else "regular"
        oid = None
        if path in files:
            plain = b"blob %d\0" % len(files[path]) + files[path]
            oid = hashlib.sha256(files[path]).hexdigest() if mode == "lfs" else hashlib.sha1(plain).hexdigest()
        return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid}

    def _offer(self, entry: dict[str, object]) -> dict[str, object]:
        """Instructions for an object; none for one that is here already."""
        if entry["oid"] in self.lfs_objects:
            return entry
        upload = {"href": f"{self.cdn_url}/lfs/{entry['oid']}?X-Amz-Signature=cdn-secret"}
        return {**entry, "actions": {"upload": upload, "verify": {"href": f"{self.url}/lfs-verify"}}}

    def take_object(self, handler: _Handler, request: Recorded, body: bytes) -> None:
        fault = self.upload_faults.popleft() if self.upload_faults else None
        oid = request.path.removeprefix("/lfs/")
        if fault is not None:
            handler.send(fault.status or 500, b"", fault.headers)
        elif hashlib.sha256(body).hexdigest() != oid:
            handler.send(400, b"")
        else:
            self.lfs_objects[oid] = body
            handler.send(200, b"")

    def _commit(self, handler: _Handler, branch: str, body: bytes) -> None:
        files = dict(self.commits[self.branches[branch]])
        for line in body.splitlines():
            operation = json.loads(line)
            value = operation["value"]
            match operation["key"]:
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                    self.plain_paths.add(value["path"])
                case "lfsFile":
                    files[value["path"]] = self.lfs_objects[value["oid"]]
                case "deletedFile":
                    del files[value["path"]]
        commit = name_commit(f"{branch} {len(self.commits)}")
        self.commits[commit] = files
        self.branches[branch] = commit
        address = f"{self.url}/datasets/{REPOSITORY}/commit/{commit}"
        handler.send(200, json.dumps({"commitUrl": address, "commitOid": commit}).encode())

    def answer_resolve(self, handler: _Handler, request: Recorded) -> None:
        commit, _, path = request.path.removeprefix(f"/datasets/{REPOSITORY}/resolve/").partition("/")
        content = self.commits.get(commit, {}).get(path)
        if self.is_gated and path != "README.md":
            status = 403 if "authorization" in request.headers else 401
            handler.send(status, b"", {"X-Error-Code": "GatedRepo"})
        elif content is None:
            handler.send(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif path in self.plain_paths:
            self._send_file(handler, request, content, None)
        else:
            headers = {
                "Location": f"{self.cdn_url}/{commit}/{quote(path)}?X-Amz-Signature=cdn-secret",
                "X-Repo-Commit": commit,
                "X-Linked-Size": str(len(content)),
                "X-Linked-ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            }
            handler.send(302, b"", headers)

    def answer_cdn(self, handler: _Handler, request: Recorded) -> None:
        commit, _, path = request.path.removeprefix("/").partition("/")
        fault = self.data_faults.popleft() if self.data_faults else None
        self._send_file(handler, request, self.commits[commit][path], fault)

    def _send_file(self, handler: _Handler, request: Recorded, content: bytes, fault: Fault | None) -> None:
        if fault is not None and fault.status is not None:
            handler.send(fault.status, b"", fault.headers)
            return
        etag = f'"{hashlib.md5(content).hexdigest()}"'
        headers = {"ETag": etag} if self.has_etags else {}
        wanted = request.headers.get("range") if self.has_ranges else None
        start = 0
        is_same = not self.honours_if_range or request.headers.get("if-range", etag) == etag
        if wanted is not None and is_same:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                handler.send(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        if fault is not None and fault.is_corrupt:
            body = bytes([body[0] ^ 1]) + body[1:]
        handler.send_head(206 if "Content-Range" in headers else 200, len(body), headers)
        if fault is None or fault.is_corrupt:
            handler.wfile.write(body)
        elif fault.cut_after_bytes is not None:
            handler.wfile.write(body[: fault.cut_after_bytes])
        elif fault.stall_after_bytes is not None:
            handler.wfile.write(body[: fault.stall_after_bytes])
            handler.wfile.flush()
            self.released.wait()
        handler.close_connection = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_head(status, len(body), headers or {})
        self.wfile.write(body)

    def send_head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent: tests read `requests`."""
