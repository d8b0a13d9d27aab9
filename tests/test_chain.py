import os

import pytest

from privacy_sql.chain import Chain
from privacy_sql.errors import DataError


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
