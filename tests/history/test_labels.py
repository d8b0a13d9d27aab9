import pytest

from privacy_sql.errors import UsageError
from privacy_sql.history.labels import rules, spelt_out


def covers(label, value, bounds="[]"):
    """Straight from the meaning of a rule."""
    return any(_covers(rule, value) for rule in rules(label, bounds))


def _covers(rule, value):
    if rule.everything or (rule.nothing and value is None):
        return True
    if value is None or rule.nothing:
        return False
    if rule.text is not None:
        return value == rule.text
    if rule.prefix is not None:
        return value.startswith(rule.prefix) and rule.length in (None, len(value))
    if rule.first is not None:
        return rule.first <= value <= rule.last
    number = float(value)
    above = number > rule.low if rule.low_open else number >= rule.low
    below = number < rule.high if rule.high_open else number <= rule.high
    return above and below


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("20-29", ["20", "24.5", "29"], ["19", "30"]),
        ("-5--1", ["-5", "-1"], ["0", "-6"]),
        ("[20, 30)", ["20", "29.9"], ["30"]),
        ("(20, 30]", ["20.1", "30"], ["20"]),
        ("[-inf, 5]", ["-1000", "5"], ["5.1"]),
        ("<30", ["29"], ["30"]),
        ("≥40", ["40", "1000"], ["39"]),
        ("<= 3", ["3"], ["4"]),
        ("90+", ["90", "120"], ["89"]),
        ("130**", ["13012"], ["1301", "130122", "14012"]),
        ("*", ["anything", None], []),
        ("Any", ["5"], []),
        ("b..d", ["b", "c", "d"], ["a", "da", None]),
        ("White", ["White"], ["white", None]),
        ("28", ["28"], ["29"]),
        (None, [None], ["x"]),
    ],
)
def test_a_label_covers_what_it_says(label, inside, outside):
    assert [value for value in inside if not covers(label, value)] == []
    assert [value for value in outside if covers(label, value)] == []


def test_the_ends_of_a_range_follow_the_declared_bounds():
    assert covers("20-30", "30")
    assert not covers("20-30", "30", "[)")
    assert not covers("20-30", "20", "(]")


@pytest.mark.parametrize("cover", [{}, {"lt": "x"}, {"range": [1]}, {"like": "a"}, 5, {"lt": 1, "le": 0}])
def test_a_label_that_is_no_rule_is_refused(cover):
    with pytest.raises(UsageError):
        spelt_out(cover, "age")
