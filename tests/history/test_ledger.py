import multiprocessing
import os
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

from privacy_sql.errors import DataError, UsageError
from privacy_sql.history.ledger import Charge, Ledger

TENTH = Fraction(1, 10)


def spend(path, times):
    spent = 0
    for number in range(times):
        try:
            Ledger(path).charge(Charge(f"release {number}", TENTH))
            spent += 1
        except UsageError:
            pass
    return spent


def test_charges_add_up_exactly_and_may_reach_the_limit(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.set_limit(Fraction(3, 10))
    assert spend(ledger.path, 5) == 3
    assert ledger.account().epsilon == Fraction(3, 10)


def test_an_overspent_budget_is_refused_and_leaves_no_charge(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.set_limit(Fraction(1))
    ledger.charge(Charge("first", Fraction(9, 10)))
    with pytest.raises(
        UsageError, match="second costs epsilon 1/5, but epsilon 9/10 of epsilon 1 is spent already"
    ):
        ledger.charge(Charge("second", Fraction(1, 5)))
    assert [charge.release for charge in ledger.account().charges] == ["first"]


def test_a_delta_beyond_its_limit_is_refused(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.set_limit(Fraction(1), Fraction(1, 10**6))
    with pytest.raises(UsageError, match="delta"):
        ledger.charge(Charge("gauss", TENTH, Fraction(1, 10**5)))


def test_lowering_the_limit_below_what_is_spent_stops_every_charge(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.charge(Charge("first", Fraction(1)))
    ledger.set_limit(Fraction(1, 2))
    with pytest.raises(UsageError, match="spent already"):
        ledger.charge(Charge("second", TENTH))


@pytest.mark.parametrize("epsilon, delta", [(0, 0), (-1, 0), (1, -1), (1, 1)])
def test_prices_that_are_none_are_refused(tmp_path, epsilon, delta):
    with pytest.raises(UsageError):
        Ledger(tmp_path / "ledger.jsonl").charge(Charge("r", Fraction(epsilon), Fraction(delta)))


def test_processes_that_charge_at_once_never_overspend(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.set_limit(Fraction(1))
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        spent = pool.starmap(spend, [(ledger.path, 8)] * 2)
    assert sum(spent) == 10
    assert ledger.account().epsilon == 1


def test_a_killed_process_leaves_a_ledger_that_reads_and_goes_on(tmp_path):
    path = tmp_path / "ledger.jsonl"
    code = (
        "import sys; from fractions import Fraction; from pathlib import Path\n"
        "from privacy_sql.history.ledger import Charge, Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "while True:\n"
        "    ledger.charge(Charge('r', Fraction(1)))\n"
        "    print('charged', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    acknowledged = sum(1 for _ in zip(range(20), process.stdout, strict=False))
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += len(process.stdout.readlines())
    process.wait()
    process.stdout.close()
    assert len(Ledger(path).account().charges) in (acknowledged, acknowledged + 1)
    Ledger(path).charge(Charge("after", Fraction(1)))


def test_a_ledger_edited_by_hand_stops_every_charge(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.charge(Charge("first", Fraction(1)))
    ledger.path.write_text(ledger.path.read_text().replace('"epsilon":"1"', '"epsilon":"0"'))
    with pytest.raises(DataError, match="changed from outside"):
        ledger.charge(Charge("second", Fraction(1)))
