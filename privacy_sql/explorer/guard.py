"""Who may ask the explorer: the one page that was opened with its address, on this machine.

A server on 127.0.0.1 can be reached by every page in the same browser (cross-site requests) and, through a
name that is bound anew to 127.0.0.1, even be read by one (DNS rebinding). So the address that is opened holds
a random token that works once and becomes a cookie; every request is asked for the cookie, for its Host and,
where the browser says it, for its Origin.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

USUAL_PORT = 80  # browsers leave it out
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass
class Guard:
    """The token of the first address, the cookie it becomes, and the names this machine has for itself."""

    port: int
    _token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The first address; after it was opened the token in it is worth nothing."""
        return f"http://127.0.0.1:{self.port}/?token={self._token or ''}"

    @property
    def cookie_name(self) -> str:
        """Cookies know no ports, so two explorers of one user tell theirs apart by name."""
        return f"privacy_sql_{self.port}"

    @property
    def set_cookie(self) -> str:
        """What makes the browser keep the cookie: no script reads it, no other site sends it."""
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def admits(self, token: str) -> bool:
        """Whether this is the token of the first address; it works once."""
        right = self._token is not None and secrets.compare_digest(token.encode(), self._token.encode())
        if right:
            self._token = None
        return right

    def knows(self, cookie: str | None) -> bool:
        """Whether this is the cookie."""
        return cookie is not None and secrets.compare_digest(cookie.encode(), self._cookie.encode())

    def stranger(self, headers: Mapping[str, str], *, changes: bool) -> str:
        """Why a request comes from somewhere else; empty where it does not. `changes`: it may change a thing.

        >>> here = Guard(8000)
        >>> here.stranger({"host": "127.0.0.1:8000"}, changes=False)
        ''
        >>> here.stranger({"host": "evil.example:8000"}, changes=False)
        'host'
        >>> here.stranger({"host": "127.0.0.1:8000", "origin": "https://evil.example"}, changes=True)
        'origin'
        """
        names = ("127.0.0.1", "localhost")
        hosts = (*(f"{name}:{self.port}" for name in names), *(names if self.port == USUAL_PORT else ()))
        host = headers.get("host", "")
        if host not in hosts:
            return "host"
        origin = headers.get("origin")
        if origin is None and changes:
            return "origin"
        if origin is not None and origin != f"http://{host}":
            return "origin"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "site"
        return ""
