"""Who is answered: the page that was opened with the address, and nobody else."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from privacy_sql.explorer.guard import Guard
from privacy_sql.explorer.server import PAGE, bound, screens
from tests.command_line import call
from tests.explorer.served import Asker, served

SHOW = json.dumps({"action": "show"})


def test_the_page_is_served_with_its_policy_and_loads_only_its_own_files(page: Asker) -> None:
    status, headers, text = page.request("GET", "/")
    assert status == 200 and headers["content-type"].startswith("text/html")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "script-src 'self'" in policy and "style-src 'self'" in policy and "connect-src 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "<script>" not in text and "style=" not in text and "http" not in text.replace("http-equiv", "")


def test_every_file_of_the_page_is_served_and_none_inlines_anything(page: Asker) -> None:
    files = [file for file in PAGE.rglob("*") if file.is_file()]
    assert {f"{name}.mjs" for name in screens()} <= {file.name for file in files}
    for file in files:
        status, headers, text = page.request("GET", f"/page/{file.relative_to(PAGE).as_posix()}")
        assert status == 200 and "content-security-policy" in headers
        assert text == file.read_text(encoding="utf-8")
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text and "eval(" not in text
        if file.suffix in (".mjs", ".css"):
            assert "https://" not in text


def test_the_cookie_is_kept_from_scripts_and_other_sites(page: Asker) -> None:
    guard = Guard(1)
    assert "HttpOnly" in guard.set_cookie and "SameSite=Strict" in guard.set_cookie
    assert guard._cookie not in repr(guard) and str(guard._token) not in repr(guard)


@pytest.mark.parametrize("path", ["/", "/page/main.mjs"])
def test_without_the_cookie_no_file_is_served(page: Asker, path: str) -> None:
    assert page.request("GET", path, headers={"Cookie": ""})[0] == 403
    assert page.request("GET", path, headers={"Cookie": f"privacy_sql_{page.port}=wrong"})[0] == 403
    assert page.request("GET", path)[0] == 200


def test_a_wrong_token_is_refused_and_the_right_one_works_once(page: Asker) -> None:
    used = page.address.removeprefix(page.origin)
    for token in ("", "wrong", "é", "a" * 5000):
        found = page.request(
            "GET",
            f"/?token={token!r}".replace("'", "").encode("ascii", "ignore").decode(),
            headers={"Cookie": ""},
        )
        assert found[0] in (400, 403) and "set-cookie" not in found[1]
    again = page.request("GET", used, headers={"Cookie": "", "Origin": ""})
    assert again[0] == 403 and "set-cookie" not in again[1]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:1"},
        {"Cookie": ""},
        {"Cookie": "privacy_sql=guess"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_question_from_elsewhere_is_refused(page: Asker, headers: dict[str, str]) -> None:
    assert page.request("POST", "/api/decide", SHOW)[0] == 200
    status, told, text = page.request("POST", "/api/decide", SHOW, headers)
    assert status == 403 and "summary" not in text
    assert "access-control-allow-origin" not in told


def test_another_host_is_refused_for_the_page_too(page: Asker) -> None:
    assert page.request("GET", "/", headers={"Host": f"evil.example:{page.port}"})[0] == 403
    assert page.request("GET", "/", headers={"Host": f"localhost:{page.port}", "Origin": ""})[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/page/../server.py", "/page/..%2fserver.py", "/page/%2e%2e/decision.py", "/page//etc/passwd"),
        *(
            "/page/",
            "/privacy.yml",
            "/page/screens/../../server.py",
            "/page/main.mjs%00.html",
            "/docs",
            "/openapi.json",
        ),
    ],
)
def test_an_address_outside_the_page_leads_nowhere(page: Asker, path: str) -> None:
    assert page.request("GET", path)[0] == 404


def test_questions_are_posted_and_no_answer_may_be_read_by_another_site(page: Asker) -> None:
    assert page.request("GET", "/api/decide")[0] == 405
    status, headers, _ = page.request("OPTIONS", "/api/decide")
    assert status in (403, 405) and "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        '{"action": 1}',
        '{"action": "format"}',
        "[" * 100_000,
        "{" + " " * 2_000_000 + "}",
    ],
)
def test_a_question_that_is_none_is_told_so_in_words(page: Asker, body: str) -> None:
    status, _, text = page.request("POST", "/api/decide", body)
    if status != 200:  # an empty question shows the screen
        error = json.loads(text)["error"]
        assert (
            status == 422
            and error["code"] in ("bad_question", "large_question")
            and error["hint"] is not None
        )
    else:
        assert body == ""


def test_only_this_machine_can_reach_it(page: Asker) -> None:
    with bound(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {
        "127.0.0.1"
    }
    for address in others:
        with socket.socket() as tried:
            tried.settimeout(2)
            assert tried.connect_ex((str(address), page.port)) != 0, address


def test_a_taken_port_is_named(folder: Path) -> None:
    with bound(0) as listening:
        listening.listen()
        told = call("explore", "--project", folder, "--no-browser", "--port", listening.getsockname()[1])
    assert told.exit == 2 and "is taken" in told.err


def test_without_its_libraries_explore_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = call("explore", "--project", folder)
    assert told.exit == 2 and "pip install 'privacy-sql[explore]'" in told.err


def test_the_server_ends_when_its_last_page_is_closed_and_not_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privacy_sql.explorer.server.RELOAD", 0.05)
    with served(folder) as page:
        for name in ("one", "other"):
            page.tell("/api/alive", {"page": name})
        page.tell("/api/leave", {"page": "one"})
        page.thread.join(1.5)
        assert page.thread.is_alive()
        page.tell("/api/leave", {"page": "other"})
        page.thread.join(30)
        assert not page.thread.is_alive()
