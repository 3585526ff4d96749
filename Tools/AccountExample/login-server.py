#!/usr/bin/env python3
"""A small login server for AccountExample: HTTP on a loopback port, all state in memory, nothing secret logged.

    python3 Tools/AccountExample/login-server.py [--port PORT]

The first line of output is its address. It is for trying out and for tests: everyone who reaches /admin may do
anything, and there is no TLS.

    POST /login    {"userName", "password"}  -> account id, access token (short life), refresh token, profile
    POST /refresh  {"refreshToken"}          -> new tokens; each refresh token is accepted once
    GET  /validate                           -> the profile; the access token is in Authorization: Bearer
    POST /collect  {"id"}                    -> the collection, with the id in it
    POST /logout                             -> ends the session

401 and 403 with {"error": ...} are rejections; 429 and 503 tell when to try again.

    POST /admin/password  {"userName", "password"}  creates an account, or changes its password
    POST /admin/kick      {"userName"}              ends all sessions of an account
    POST /admin/life      {"seconds"}               how long the next access tokens live
    POST /admin/answer    {"status", "retryAfter", "body"}  what all requests but these get; {} for the real answers
    POST /admin/hold      {"path"}                  handles the next request to a path, and holds its answer
    POST /admin/release   {}                        sends the answers that are held
    GET  /admin/counts                              requests so far, by path and status
    GET  /admin/issued                              all tokens ever issued
"""

import argparse
import collections
import hashlib
import hmac
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Refusal(Exception):
    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


@dataclass
class Account:
    id: str
    salt: bytes
    hash: bytes
    profile: dict


@dataclass
class Session:
    account: Account
    access: str = ""
    access_ends: float = 0
    refresh: str = ""
    is_kicked: bool = False


def hashed(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=1 << 12, r=8, p=1)


@dataclass
class Accounts:
    """The state of the server. Its methods are called one at a time."""

    accounts: dict[str, Account] = field(default_factory=dict)
    by_access: dict[str, Session] = field(default_factory=dict)
    by_refresh: dict[str, Session] = field(default_factory=dict)
    issued: list[str] = field(default_factory=list)
    life: float = 900

    def set_password(self, name: str, password: str) -> None:
        salt = secrets.token_bytes(16)
        account = self.accounts.get(name)
        if account:
            account.salt, account.hash = salt, hashed(password, salt)
            return
        profile = {"nickname": name.capitalize(), "points": 10, "collectIds": []}
        self.accounts[name] = Account(f"id-{len(self.accounts) + 1}", salt, hashed(password, salt), profile)

    def login(self, name: str, password: str) -> dict:
        account = self.accounts.get(name)
        if not account or not hmac.compare_digest(account.hash, hashed(password, account.salt)):
            raise Refusal(401, "wrong_password")
        tokens = self.give_tokens(Session(account))
        return tokens | {"accountID": account.id, "profile": account.profile}

    def give_tokens(self, session: Session) -> dict:
        session.access, session.refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        session.access_ends = time.monotonic() + self.life
        self.by_access[session.access] = self.by_refresh[session.refresh] = session
        self.issued += [session.access, session.refresh]
        return {"accessToken": session.access, "refreshToken": session.refresh, "expiresIn": self.life}

    def rotate(self, refresh: str) -> dict:
        session = self.by_refresh.get(refresh)
        if not session:
            raise Refusal(401, "invalid_token")
        if session.is_kicked:
            raise Refusal(401, "kicked")
        if session.refresh != refresh:
            # It was used before.
            raise Refusal(401, "reused_token")
        return self.give_tokens(session)

    def session(self, access: str) -> Session:
        session = self.by_access.get(access)
        if not session:
            raise Refusal(401, "invalid_token")
        if session.is_kicked:
            raise Refusal(401, "kicked")
        if session.access != access or session.access_ends <= time.monotonic():
            raise Refusal(401, "expired_token")
        return session

    def collect(self, access: str, item: str) -> list[str]:
        collection = self.session(access).account.profile["collectIds"]
        if item not in collection:
            collection.append(item)
        return collection

    def logout(self, access: str) -> None:
        session = self.session(access)
        self.by_access = {token: other for token, other in self.by_access.items() if other is not session}
        self.by_refresh = {token: other for token, other in self.by_refresh.items() if other is not session}

    def kick(self, name: str) -> None:
        for session in self.by_refresh.values():
            if session.account is self.accounts[name]:
                session.is_kicked = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.accounts = Accounts()
        self.lock = threading.Lock()
        self.counts: collections.Counter[str] = collections.Counter()
        self.answer: dict = {}
        self.held_paths: set[str] = set()
        self.release = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.handle_request("GET")

    def do_POST(self) -> None:
        self.handle_request("POST")

    def log_message(self, *_: object) -> None:
        pass

    def handle_request(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            forced = {} if self.path.startswith("/admin/") else self.server.answer
            try:
                status = 200
                answer = {"error": "forced"} if forced else self.result(method, json.loads(body or b"{}"))
            except Refusal as refusal:
                status, answer = refusal.status, {"error": str(refusal)}
            except (KeyError, TypeError, ValueError):
                status, answer = 400, {"error": "bad_request"}
            status = forced.get("status", status)
            self.server.counts[f"{self.path} {status}"] += 1
            is_held = self.path in self.server.held_paths
            self.server.held_paths.discard(self.path)
        if is_held:
            self.server.release.wait()
        self.send(status, json.dumps(answer) if "body" not in forced else forced["body"], forced.get("retryAfter"))

    def send(self, status: int, text: str, retry_after: str | None) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if text.startswith("{") else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        if status in (301, 302, 307):
            self.send_header("Location", "/elsewhere")
        try:
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            # The client has closed the connection.
            self.close_connection = True

    @property
    def access(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def result(self, method: str, asked: dict) -> dict:
        server, accounts = self.server, self.server.accounts
        match method, self.path:
            case "POST", "/login":
                return accounts.login(asked["userName"], asked["password"])
            case "POST", "/refresh":
                return accounts.rotate(asked["refreshToken"])
            case "GET", "/validate":
                return {"profile": accounts.session(self.access).account.profile}
            case "POST", "/collect":
                return {"collectIds": accounts.collect(self.access, asked["id"])}
            case "POST", "/logout":
                accounts.logout(self.access)
            case "POST", "/admin/password":
                accounts.set_password(asked["userName"], asked["password"])
            case "POST", "/admin/kick":
                accounts.kick(asked["userName"])
            case "POST", "/admin/life":
                accounts.life = asked["seconds"]
            case "POST", "/admin/answer":
                server.answer = asked
            case "POST", "/admin/hold":
                server.held_paths.add(asked["path"])
                server.release.clear()
            case "POST", "/admin/release":
                server.release.set()
            case "GET", "/admin/counts":
                return dict(server.counts)
            case "GET", "/admin/issued":
                return {"tokens": accounts.issued}
            case _:
                raise Refusal(404, "not_found")
        return {}


def main() -> None:
    parser = argparse.ArgumentParser(description="A login server for AccountExample, on a loopback port.")
    parser.add_argument("--port", type=int, default=0, help="0, the default: any that is free")
    server = Server(parser.parse_args().port)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
