"""Who is answered: the page that was opened with the address, and nobody else."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
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


@pytest.mark.parametrize(
    "limit",
    ["1/0", "0/0", "1e3", "1e9999", "1e-999999999", "NaN", "inf", "", "9" * 5000, "\ud800", "\u0663"],
    ids=repr,
)
def test_a_limit_that_is_no_number_is_refused_in_words_and_at_once(page: Asker, limit: str) -> None:
    question = {"action": "limit", "requirement": "t_closeness(t=0.3)", "limit": limit}
    status, _, text = page.request("POST", "/api/decide", json.dumps({**question, "version": 1}))
    error = json.loads(text)["error"]
    assert status == 422 and error["code"] == "bad_parameter", text
    assert page.decision.version == 1


def raw(page: Asker, line: str, *headers: str, body: bytes = b"", known: bool = True) -> bytes:
    """What comes back when somebody writes on the connection what no browser would."""
    own = (f"Host: 127.0.0.1:{page.port}", f"Origin: {page.origin}", f"Cookie: {page.cookie}")
    with socket.create_connection(("127.0.0.1", page.port), timeout=30) as connection:
        head = "\r\n".join((line, *(own if known else ()), *headers, "Connection: close", "", ""))
        found = b""
        try:
            connection.sendall(head.encode("latin-1") + body)
            while piece := connection.recv(65536):
                found += piece
        except ConnectionError:  # it does not read to the end what is refused
            pass
    return found


ODD = {
    "no path": (("GET [/ HTTP/1.1",), 404),
    "a name before the path": (("GET @evil.example/ HTTP/1.1",), 404),
    "an escaped question mark": (("GET /%3F HTTP/1.1",), 404),
    "another site": (("GET http://[evil.example/ HTTP/1.1",), 404),
    "a tunnel": (("CONNECT evil.example:443 HTTP/1.1",), 404),
    "no job": (("POST /api/jobs/1x HTTP/1.1",), 422),
    "a job of many digits": ((f"POST /api/jobs/{'9' * 5000} HTTP/1.1",), 422),
    "the end of such a job": ((f"DELETE /api/jobs/{'9' * 5000} HTTP/1.1",), 422),
    "a job in other digits": (("POST /api/jobs/%D9%A1%00 HTTP/1.1",), 422),
    "another verb": (("PUT /api/decide HTTP/1.1",), 405),
    "trace": (("TRACE / HTTP/1.1",), 405),
    "a huge header": (("GET / HTTP/1.1", "X: " + "a" * 200_000), 400),
    "two hosts": (("GET / HTTP/1.1", "Host: evil.example"), 400),
    "a negative length": (("POST /api/decide HTTP/1.1", "Content-Length: -3"), 400),
    "bytes that are no text": (("GET /page/%ff%ed%a0%80 HTTP/1.1",), 404),
    "an old browser": (("GET /page/main.mjs HTTP/1.0",), 200),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_request_is_answered_without_a_word_about_this_machine(
    page: Asker, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    lines, status = ODD[name]
    found = raw(page, *lines)
    assert found.startswith(b"HTTP/1.1 %d " % status), found[:300]
    if status != 200:
        assert b"Traceback" not in found and str(PAGE).encode() not in found and len(found) < 2000
    assert "Traceback" not in capfd.readouterr().err
    assert page.request("POST", "/api/decide", SHOW)[0] == 200


def test_without_a_host_nothing_is_answered(page: Asker) -> None:
    assert raw(page, "GET / HTTP/1.0", known=False).startswith(b"HTTP/1.1 403 ")
    assert raw(page, "GET / HTTP/1.1", known=False).startswith(b"HTTP/1.1 400 ")


def test_the_address_lets_in_one_of_those_who_open_it_at_once(folder: Path) -> None:
    guard = Guard(1)
    token = guard.address.partition("token=")[2]
    assert guard.admits(token) and not guard.admits(token)
    with served(folder, opened=False) as page:
        path = page.address.removeprefix(page.origin)
        with ThreadPoolExecutor(16) as many:
            found = list(many.map(lambda _: page.request("GET", path, headers={"Origin": ""}), range(16)))
        (let_in,) = (headers for status, headers, _ in found if status == 200)
        assert [status for status, _, _ in found].count(403) == 15
        page.cookie = let_in["set-cookie"].partition(";")[0]


def test_many_who_never_finish_their_question_keep_nobody_waiting(page: Asker) -> None:
    slow = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(100)]
    try:
        for number, connection in enumerate(slow):
            head = f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
            own = f"Origin: {page.origin}\r\nCookie: {page.cookie}\r\nContent-Length: 9\r\n\r\n{{"
            connection.sendall((head + own * (number % 2)).encode())
        assert page.request("POST", "/api/decide", SHOW)[0] == 200
    finally:
        for connection in slow:
            connection.close()
    assert page.request("POST", "/api/decide", SHOW)[0] == 200


def test_while_all_questions_wait_for_a_slow_one_the_page_is_told_that_it_is_open(page: Asker) -> None:
    with ThreadPoolExecutor(60) as many:
        with page.decision.lock:  # as a question that takes long
            waiting = [many.submit(page.request, "POST", "/api/decide", SHOW) for _ in range(60)]
            assert page.request("GET", "/")[0] == 200
            for _ in range(3):
                assert page.tell("/api/alive", {"page": "end"})["version"] == 1
            assert page.tell("/api/jobs/999", {})["error"]["code"] == "no_job"
            assert not any(question.done() for question in waiting)
        assert {question.result()[0] for question in waiting} == {200}


def test_on_the_port_that_browsers_leave_out_it_is_reached() -> None:
    own = {"host": "127.0.0.1", "origin": "http://127.0.0.1"}
    assert Guard(80).stranger(own, changes=True) == ""
    assert Guard(8000).stranger(own, changes=True) == "host"


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


def test_a_page_that_is_reloaded_slowly_finds_its_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser asks for the page anew before the old one says that it leaves."""
    monkeypatch.setattr("privacy_sql.explorer.server.RELOAD", 0.05)
    with served(folder) as page:
        page.tell("/api/alive", {"page": "before"})
        assert page.request("GET", "/")[0] == 200
        page.tell("/api/alive", {"page": "before"})  # its last beat comes in between
        page.tell("/api/leave", {"page": "before"})
        page.thread.join(1.5)
        assert page.thread.is_alive()
        page.tell("/api/alive", {"page": "after"})
        page.tell("/api/leave", {"page": "after"})
        page.thread.join(30)
        assert not page.thread.is_alive()


def test_a_page_that_is_asked_for_and_never_speaks_is_not_waited_for_without_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privacy_sql.explorer.server.RELOAD", 0.05)
    monkeypatch.setattr("privacy_sql.explorer.server.LOADING", 0.2)
    with served(folder) as page:
        page.tell("/api/alive", {"page": "before"})
        assert page.request("GET", "/")[0] == 200
        page.tell("/api/leave", {"page": "before"})
        page.thread.join(30)
        assert not page.thread.is_alive()


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
