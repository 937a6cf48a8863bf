"""A web server on a local port that serves bytes, index pages and redirects, and records what it was asked."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


class FileServer:
    """`files`: path to bytes. `redirects`: path to address. `pages`: path to the addresses that an index page links to."""

    def __init__(self, files: dict[str, bytes], *, has_ranges: bool = True) -> None:
        self.files = files
        self.redirects: dict[str, str] = {}
        self.pages: dict[str, list[str]] = {}
        self.requests: list[tuple[str, str, str]] = []  # method, path, Host
        self.has_ranges = has_ranges
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.answer(self, has_body=True)

            def do_HEAD(self) -> None:
                server.answer(self, has_body=False)

            def log_message(self, format: str, *args: object) -> None:
                """Silent: tests read `requests`."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def answer(self, handler: BaseHTTPRequestHandler, *, has_body: bool) -> None:
        self.requests.append((handler.command, handler.path, handler.headers.get("Host", "")))
        headers: dict[str, str] = {}
        status, body = 404, b""
        if handler.path in self.redirects:
            status, headers = 302, {"Location": self.redirects[handler.path]}
        elif handler.path in self.pages:
            status = 200
            links = "".join(f'<a href="{link}">x</a>' for link in self.pages[handler.path])
            body, headers = f"<html>{links}</html>".encode(), {"Content-Type": "text/html"}
        elif handler.path in self.files:
            content = self.files[handler.path]
            status, body, headers = 200, content, {"ETag": f'"{hash(content)}"'}
            wanted = handler.headers.get("Range", "")
            if self.has_ranges:
                headers["Accept-Ranges"] = "bytes"
            if wanted and self.has_ranges:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end = int(first), min(int(last or len(content) - 1), len(content) - 1)
                status, body = 206, content[start : end + 1]
                headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if has_body:
            handler.wfile.write(body)

    def __enter__(self) -> FileServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
