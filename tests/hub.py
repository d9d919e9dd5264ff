"""A small Hugging Face Hub on loopback: models and data sets in memory, the routes clients ask.

It is told to clients by ``HF_ENDPOINT``, which they read when they start: they run in processes of
their own.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

API = re.compile(r"/api/(models|datasets)/([^/]+/[^/]+)(?:/([^/]+)(?:/([^/]+))?(?:/(.*))?)?$")
FILE = re.compile(r"/(?:(datasets)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")


@dataclass(frozen=True)
class Repo:
    """A repository of one commit, which is its ``main``.

    Attributes:
        kind: ``models`` or ``datasets``.
        name: As in ``org/name``.
        files: Contents by path.
        gated: Whether strangers are refused.
    """

    kind: str
    name: str
    files: Mapping[str, bytes]
    gated: bool = False

    @property
    def commit(self) -> str:
        """Its hash: of its contents, so that it is always the same."""
        h = hashlib.sha1(usedforsecurity=False)
        for path, content in sorted(self.files.items()):
            h.update(path.encode() + b"|" + content)
        return h.hexdigest()

    def about(self) -> dict[str, object]:
        """What the Hub says of it."""
        siblings = [{"rfilename": path} for path in sorted(self.files)]
        return {
            "id": self.name,
            "sha": self.commit,
            "siblings": siblings,
            "private": False,
            "gated": "manual" if self.gated else False,
            "tags": [],
        }

    def tree(self, folder: str = "", *, deep: bool = True) -> list[dict[str, object]]:
        """The files and folders in a folder, or in all folders below it too."""
        inside = f"{folder}/" if folder else ""
        below = {p: c for p, c in sorted(self.files.items()) if p.startswith(inside)}
        parts = {p: p.removeprefix(inside).split("/") for p in below}
        folders = {
            inside + "/".join(part[: i + 1])
            for part in parts.values()
            for i in range(len(part) - 1)
        }
        found: list[dict[str, object]] = [
            {"type": "directory", "path": p, "size": 0, "oid": etag(p.encode())} for p in folders
        ]
        for p, c in below.items():
            found.append({"type": "file", "path": p, "size": len(c), "oid": etag(c)})
        direct = [f for f in found if "/" not in str(f["path"]).removeprefix(inside)]
        return found if deep else direct


def etag(content: bytes) -> str:
    """A name of a content."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def of_folder(kind: str, name: str, folder: Path) -> Repo:
    """A repository of a folder's files."""
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return Repo(kind, name, {path: p.read_bytes() for path, p in files.items()})


@dataclass
class Hub:
    """A running server.

    Attributes:
        url: Its address, for ``HF_ENDPOINT``.
        asked: Methods and paths of all requests, in order.
        unknown: Those of them that no route answered.
    """

    url: str
    asked: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """One response."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def told(value: object) -> Answer:
    """A JSON response."""
    return Answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})


def refused(status: int, code: str) -> Answer:
    """What clients make their errors of."""
    headers = {"X-Error-Code": code, "X-Error-Message": code}
    return Answer(status, b'{"error": "no"}', headers | {"Content-Type": "application/json"})


Known = Mapping[tuple[str, str], Repo]


def handling(hub: Hub, known: Known) -> type[BaseHTTPRequestHandler]:
    """What answers requests, and notes them."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            hub.asked.append(f"{self.command} {self.path}")
            found = respond(known, self.path, sent)
            if found is None:
                hub.unknown.append(hub.asked[-1])
            self._send(found or refused(404, "RepoNotFound"))

        def _send(self, found: Answer) -> None:
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(found.body)

        do_GET = do_HEAD = do_POST = _answer

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(*repos: Repo) -> Iterator[Hub]:
    """Serve repositories on a free port of loopback while the block runs."""
    hub, known = Hub(""), {(repo.kind, repo.name): repo for repo in repos}
    server = ThreadingHTTPServer(("127.0.0.1", 0), handling(hub, known))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def respond(known: Known, path: str, sent: str) -> Answer | None:
    """The response to a request; None where there is no such route."""
    place = unquote(urlsplit(path).path)
    if place == "/":
        return Answer()
    if place == "/api/agent-harnesses":  # asked at start, of no account
        return refused(404, "EntryNotFound")
    if match := FILE.fullmatch(place):
        kind, name, revision, file = match.groups()
        return _file(known.get((kind or "models", name)), revision, file)
    if match := API.fullmatch(place):
        kind, name, what, revision, rest = match.groups()
        return _api(known.get((kind, name)), what, revision, rest or "", sent, urlsplit(path).query)
    return None


def _file(repo: Repo | None, revision: str, file: str) -> Answer:
    if repo is None:
        return refused(401, "RepoNotFound")
    if repo.gated:
        return refused(403, "GatedRepo")
    if revision not in ("main", repo.commit):
        return refused(404, "RevisionNotFound")
    if file not in repo.files:
        missing = refused(404, "EntryNotFound")
        return Answer(404, missing.body, {**missing.headers, "X-Repo-Commit": repo.commit})
    content = repo.files[file]
    return Answer(200, content, {"ETag": f'"{etag(content)}"', "X-Repo-Commit": repo.commit})


def _api(
    repo: Repo | None, what: str | None, revision: str | None, rest: str, sent: str, query: str
) -> Answer | None:
    if repo is None:
        return refused(401, "RepoNotFound")
    if revision not in (None, "main", repo.commit):
        return refused(404, "RevisionNotFound")
    if what in (None, "revision"):
        return told(repo.about())
    if repo.gated:
        return refused(403, "GatedRepo")
    if what == "tree":
        files = repo.tree(rest, deep="recursive=true" in query.lower())
        return told(files) if files else refused(404, "EntryNotFound")
    if what == "paths-info":
        wanted = json.loads(sent)["paths"] if sent.startswith("{") else parse_qs(sent)["paths"]
        return told([f for f in repo.tree() if f["path"] in wanted])
    return None
