"""A PostgreSQL server for the tests: in a folder of its own, on loopback, under a user without rights.

The build starts with an environment variable that names the engines it must have (`.ci/run`); a laptop
without them skips and says so.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

PLACE = "PRIVACY_SQL_TEST_SERVER"  # the folder all workers of one run share
REQUIRED = "PRIVACY_SQL_TEST_ENGINES"  # engines that must not be missing, for example "postgres spark"
BINARIES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
# nothing of a test survives it, so nothing needs to reach the disk
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "jit": "off",  # compiling a statement over a few rows takes longer than running it
    "max_connections": "60",
    # a test with many examples makes thousands of small relations, which all go at once when it ends
    "max_locks_per_transaction": "4096",
}


def missing(engine: str, reason: str) -> None:
    """Skip, unless this run must have the engine."""
    if engine in os.environ.get(REQUIRED, "").split():
        pytest.fail(f"{engine} is required here: {reason}")
    pytest.skip(reason)


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl, the newest when there are several."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    for pattern in BINARIES:
        folders += Path("/").glob(pattern[1:])
    return max((f for f in folders if (f / "initdb").is_file()), default=None, key=_version)


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(digits) for digits in "".join(c if c.isdigit() else " " for c in str(folder)).split())


def reserve() -> None:
    """Choose the folder all workers of this run share; the server starts when a test asks for it."""
    os.environ[PLACE] = tempfile.mkdtemp(prefix="privacy_sql_server_")


def dsn() -> str:
    """Where the running server is, started by whoever asks first."""
    place = Path(os.environ[PLACE])
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = place / "dsn"
        if not known.exists():
            known.write_text(_start(place) if binaries() else "")
    found = known.read_text()
    if not found:
        missing("postgres", "needs PostgreSQL: apt-get install postgresql")
    return found


def stop() -> None:
    """Stop the server of this run, when one was started, and remove its folder."""
    place = Path(os.environ.pop(PLACE))
    if (place / "data" / "postmaster.pid").exists():
        _as_nobody([str(_bin() / "pg_ctl"), "-D", str(place / "data"), "-m", "immediate", "-w", "stop"])
    shutil.rmtree(place, ignore_errors=True)


def _start(place: Path) -> str:
    data, password = place / "data", secrets.token_hex(16)
    secret = place / "password"
    secret.write_text(password)
    place.chmod(0o755)
    data.mkdir()
    for path in (data, secret):
        _give_away(path)
    initdb = ["-D", str(data), "-U", "tester", "-A", "scram-sha-256", "--pwfile", str(secret)]
    _as_nobody([str(_bin() / "initdb"), *initdb, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
    secret.unlink()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = " ".join(f"-c {name}={value or repr(value)}" for name, value in SETTINGS.items())
    log = str(data / "log")
    _as_nobody(
        [str(_bin() / "pg_ctl"), "-D", str(data), "-l", log, "-w", "-o", f"-p {port} {options}", "start"]
    )
    return f"host=127.0.0.1 port={port} user=tester password={password} dbname=postgres"


def _bin() -> Path:
    found = binaries()
    assert found
    return found


def _unprivileged() -> str:
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _give_away(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, _unprivileged())


def _as_nobody(command: Sequence[str]) -> None:
    """PostgreSQL refuses to run as root."""
    prefix = ["runuser", "-u", _unprivileged(), "--"] if os.geteuid() == 0 else []
    done = (
        subprocess.run(
            [*prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
        )
        if "start" not in command
        else subprocess.run(
            [*prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
    )
    if done.returncode:
        sys.stderr.write((done.stdout or b"").decode(errors="replace"))
        raise RuntimeError(f"{Path(command[0]).name} failed")
