import errno
import json
import os
import random
import shutil

import pytest

from privacy_sql.errors import DataError, EngineError
from privacy_sql.history.chain import Chain
from tests import kills

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def filled(path, n=3):
    chain = Chain(path)
    with chain.locked():
        for number in range(n):
            chain.append({"what": number})
    return chain


def test_records_come_back_in_order(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    assert chain.read() == [{"what": 0}, {"what": 1}, {"what": 2}]


def test_a_missing_chain_is_empty(tmp_path):
    assert Chain(tmp_path / "c.jsonl").read() == []


def test_any_changed_byte_is_found(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    content = chain.path.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1 + position % 255
        chain.path.write_bytes(changed)
        with pytest.raises(DataError, match="changed from outside"):
            chain.read()


def test_records_removed_from_the_end_are_missed(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    lines = chain.path.read_text().splitlines(keepends=True)
    chain.path.write_text("".join(lines[:-1]))
    with pytest.raises(DataError, match="missing"):
        chain.read()
    chain.path.unlink()
    with pytest.raises(DataError, match="missing"):
        chain.read()


def test_records_swapped_or_repeated_are_found(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    first, second, third = chain.path.read_text().splitlines(keepends=True)
    for forged in (first + third + second, first + second + second + third):
        chain.path.write_text(forged)
        with pytest.raises(DataError):
            chain.read()


def test_a_head_that_is_gone_or_forged_is_found(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    chain.head.write_text('{"hash":"0","number":1}')
    with pytest.raises(DataError):
        chain.read()
    chain.head.unlink()
    with pytest.raises(DataError):
        chain.read()


def test_a_line_torn_by_a_kill_is_dropped_and_the_chain_goes_on(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    whole = chain.path.read_bytes()
    for torn in (b"{", b'{"hash":"abc","numb', whole[:100]):
        chain.path.write_bytes(whole + torn)
        assert len(chain.read()) == 3
    with chain.locked():
        chain.append({"what": 3})
    assert len(chain.read()) == 4


def test_a_kill_between_record_and_head_keeps_the_record(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    before = chain.head.read_text()
    with chain.locked():
        chain.append({"what": 3})
    chain.head.write_text(before)
    assert len(chain.read()) == 4
    with chain.locked():
        chain.append({"what": 4})
    assert len(chain.read()) == 5


def test_nothing_is_appended_without_the_lock(tmp_path):
    with pytest.raises(RuntimeError):
        Chain(tmp_path / "c.jsonl").append({})


def test_only_the_owner_may_read_a_chain(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    assert {os.stat(path).st_mode & 0o077 for path in (chain.path, chain.head)} == {0}


def append(chain, what):
    with chain.locked():
        chain.append({"what": what})


@pytest.mark.parametrize("n_before", [0, 3])
@pytest.mark.parametrize("torn", [False, True])
def test_kills_at_any_two_operations_in_a_row_leave_a_chain_that_reads_and_goes_on(tmp_path, n_before, torn):
    start, folder = tmp_path / "start", tmp_path / "chain"
    start.mkdir()
    if n_before:
        filled(start / "c.jsonl", n_before)
    shutil.copytree(start, folder)
    chain = Chain(folder / "c.jsonl")

    def reset(source=start):
        shutil.rmtree(folder)
        shutil.copytree(source, folder)

    before = list(range(n_before))
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    n_operations = kills.operations(lambda: append(chain, "first"), reset)
    assert n_operations > 8
    once = tmp_path / "once"
    for first in range(1, n_operations + 1):
        assert kills.killed(lambda: append(chain, "first"), first, torn=torn)
        shutil.copytree(folder, once)
        # the same moment again, and another; every other one at night
        others = list(range(1, n_operations + 6))
        for second in others if NIGHTLY else [first, draw.choice(others)]:
            kills.killed(lambda: append(chain, "second"), second, torn=torn)
            left = [record["what"] for record in chain.read()]
            possible = [[*before, *a, *b] for a in ([], ["first"]) for b in ([], ["second"])]
            assert left in possible, (seed, first, second)
            append(chain, "third")
            assert [record["what"] for record in chain.read()] == [*left, "third"], (seed, first, second)
            reset(once)
        shutil.rmtree(once)
        reset()


@pytest.mark.parametrize("at", range(1, 5))
def test_a_disk_that_is_full_again_and_again_leaves_a_chain_that_goes_on(tmp_path, monkeypatch, at):
    chain = filled(tmp_path / "c.jsonl", 2)
    write = os.write
    for _ in range(3):
        done = 0

        def full(handle, data):
            nonlocal done
            done += 1
            if done >= at:
                write(handle, data[:5])
                raise OSError(errno.ENOSPC, "no space left")
            return write(handle, data[:20])

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(EngineError, match="no space left"):
                append(chain, "full")
        assert [record["what"] for record in chain.read()][:2] == [0, 1]
    left = chain.read()
    append(chain, "after")
    assert chain.read() == [*left, {"what": "after"}]


@pytest.mark.parametrize("text", ["notes of mine", '{"hash": 1}', "hash"])
def test_a_file_of_somebody_else_under_this_name_is_not_cut(tmp_path, text):
    place = tmp_path / "privacy_ledger.jsonl"
    place.write_text(text)
    with pytest.raises(DataError) as problem, Chain(place).locked():
        pass
    assert problem.value.code == "tampered_chain" and place.read_text() == text


def test_a_head_that_no_kill_can_leave_is_found(tmp_path):
    chain = filled(tmp_path / "c.jsonl", 1)
    heads = [chain.head.read_text()]
    for number in range(1, 4):
        append(chain, number)
        heads.append(chain.head.read_text())
    for old in heads[:-2]:
        chain.head.write_text(old)
        with pytest.raises(DataError, match="changed from outside"):
            chain.read()
        with pytest.raises(DataError, match="changed from outside"):
            append(chain, "more")
    chain.head.write_text(heads[-2])
    assert len(chain.read()) == 4


def test_what_two_kills_of_version_0_1_0_left_is_mended(tmp_path):
    chain = filled(tmp_path / "c.jsonl")
    oldest = json.loads(chain.path.read_text().splitlines()[0])
    chain.head.write_text(json.dumps({"hash": oldest["hash"], "number": 0}))
    append(chain, 3)
    assert len(chain.read()) == 4
    lines = chain.path.read_text().splitlines(keepends=True)
    chain.path.write_text("".join(lines[:-1]))
    with pytest.raises(DataError, match="missing"):
        chain.read()


def test_a_chain_in_a_folder_that_may_only_be_read_is_read(tmp_path, monkeypatch):
    chain = filled(tmp_path / "c.jsonl")
    opened = os.open

    def read_only(path, flags, *more):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise PermissionError(errno.EACCES, "denied")
        return opened(path, flags, *more)

    for lock_is_there in (True, False):
        if not lock_is_there:
            chain.path.with_name("c.jsonl.lock").unlink()
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", read_only)
            assert len(chain.read()) == 3
            with pytest.raises(EngineError, match="cannot write"):
                append(chain, 3)
