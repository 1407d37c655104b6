"""Tables of prices as files: which row counts, and what is refused with its row and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy
from rescheduler.model.prices import LABELS_OF_KEYS
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.reading.price_file import MOST_ROWS, read_prices


def written(folder: Path, text: str | dict[str, object], name: str = "prices.json") -> str:
    """A file with this content."""
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return str(path)


def labels(**keys: str) -> dict[str, str]:
    """Labels of a node by the names of keys."""
    return {LABELS_OF_KEYS[key][0]: value for key, value in keys.items()}


def refused(file: str) -> str:
    """What a file is refused for."""
    with pytest.raises(PolicyError) as caught:
        read_prices(file)
    return str(caught.value)


ROWS: list[dict[str, object]] = [
    {"instanceType": "c-4x", "price": 0.4},
    {"instanceType": "c-4x", "capacityType": "spot", "price": 0.1},
    {"instanceType": "c-4x", "zone": "a", "price": 0.3},
    {"nodePool": "cheap", "price": 0},
    {"instanceType": "s-1x", "price": 0.05, "resources": {"cpu": "900m", "memory": "3Gi", "pods": "110"}},
]


@pytest.mark.parametrize(
    ("node", "price"),
    [
        (labels(instanceType="c-4x"), 0.4),
        (labels(instanceType="c-4x", capacityType="on-demand"), 0.4),
        (labels(instanceType="c-4x", capacityType="spot", zone="b"), 0.1),
        (labels(instanceType="c-4x", capacityType="spot", zone="a"), 0.1),
        (labels(instanceType="c-4x", zone="a"), 0.3),
        (labels(nodePool="cheap", instanceType="m-8x"), 0),
        (labels(instanceType="m-8x"), None),
        ({}, None),
    ],
)
def test_the_row_with_the_most_matching_keys_counts(tmp_path: Path, node: dict[str, str], price: float | None) -> None:
    """Each key of a row must match; the most keys win, and among as many the capacity type before the zone."""
    table = read_prices(written(tmp_path, {"currency": "EUR", "prices": ROWS}))
    row = table.row_for(node)
    assert (None if row is None else row.price) == price
    assert table.currency == "EUR"


def test_json_yaml_and_csv_say_the_same(tmp_path: Path) -> None:
    """The form of the file makes no difference, a byte order mark and an empty cell neither."""
    as_yaml = "prices:\n- {instanceType: s-1x, price: 0.05, resources: {cpu: 900m, memory: 3Gi, pods: 110}}\n"
    as_csv = "\ufeffinstanceType,zone,price,cpu,memory,pods\ns-1x,,0.05,900m,3Gi,110\n"
    tables = [
        read_prices(written(tmp_path, {"prices": ROWS[-1:]})),
        read_prices(written(tmp_path, as_yaml, "p.yaml")),
        read_prices(written(tmp_path, as_csv, "p.csv")),
    ]
    rows = [table.row_for(labels(instanceType="s-1x", zone="z")) for table in tables]
    assert rows[0] is not None
    assert rows[0] == rows[1] == rows[2]
    assert dict(rows[0].resources) == {"cpu": 900, "memory": 3 << 30, "pods": 110}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"instanceType": "a", "price": -1}, "prices[0].price: found -1; wanted 0 to 1e+12"),
        ({"instanceType": "a", "price": "0.1"}, "prices[0].price: found '0.1'; wanted a finite number, 0 or more"),
        ({"instanceType": "a", "price": True}, "prices[0].price: found true"),
        ({"instanceType": "a"}, "prices[0].price: missing"),
        ({"price": 1}, "prices[0]: no key"),
        ({"instanceType": "a", "price": 1, "colour": "red"}, "prices[0].colour: no such field; there are instanceType"),
        ({"instanceType": 7, "price": 1}, "prices[0].instanceType: found 7; wanted a text"),
        ({"instanceType": "a", "price": 1, "resources": {"cpu": "1"}}, "prices[0].resources: found a map; wanted at"),
        ({"instanceType": "a", "price": 1, "resources": {"cpu": "x", "memory": "1"}}, "prices[0].resources.cpu: 'x'"),
    ],
)
def test_a_bad_row_is_named_with_its_field(tmp_path: Path, row: dict[str, object], told: str) -> None:
    """File, row and field stand in the message, with what was found and what was wanted."""
    file = written(tmp_path, {"prices": [row]})
    assert refused(file).startswith(f"{file}: {told}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"prices": [{"instanceType": "a", "price": NaN}]}', "not JSON"),
        ('{"prices": [{"instanceType": "a", "price": 1e999}]}', "not JSON"),
        ('{"per": "day", "prices": []}', "per: found 'day'; wanted hour or month"),
        ('{"currency": "U\\u0007D", "prices": []}', "currency: found 'U"),
        ('{"currency": "TOOLONGNAME", "prices": []}', "currency: found 'TOOLONGNAME'; wanted 1 to 8 letters"),
        ('{"rows": []}', "rows: no such field; there are currency, per, prices"),
        ("[1]", "found a list; wanted a map"),
        ("", "found nothing; wanted a map"),
        ("prices: [{instanceType: a, price: .nan}]", ".nan is no number"),
        ("[" * 100_000, "not JSON"),
        ("prices: &a [*a]", "not allowed"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """What is no table of prices is told in one line and never guessed at."""
    assert told in refused(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("instanceType,cost\na,1\n", "no such column as 'cost'; the first line names the columns"),
        ("instanceType\na\n", "no column price"),
        ("instanceType,price\na,nan\n", "prices[0].price: found 'nan'"),
        ("instanceType,price\na,inf\n", "prices[0].price: found 'inf'"),
        ("instanceType,price\na,1,2\n", "line 2: 3 cells, and the first line has 2"),
        ('instanceType,price\n"a,1\n', "not CSV at line"),
    ],
)
def test_a_bad_csv_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """The header names the columns, and every cell must be what its column says."""
    assert told in refused(written(tmp_path, text, "p.csv"))


def test_two_rows_with_the_same_keys_are_refused(tmp_path: Path) -> None:
    """Nobody could know which of both holds."""
    file = written(tmp_path, {"prices": [*ROWS, ROWS[1] | {"price": 9}]})
    assert "prices[5]: the same keys as prices[1]; keep one" in refused(file)


def test_a_large_yaml_is_refused_while_it_is_read(tmp_path: Path) -> None:
    """YAML is read slowly, so that the other forms are for large tables."""
    text = "prices: [" + "{zone: a, price: 1}, " * 200_001 + "]"
    assert "write a table as large as this as JSON or CSV" in refused(written(tmp_path, text, "p.yaml"))


def test_too_many_rows_are_refused_quickly(tmp_path: Path) -> None:
    """One more than is read is too many."""
    rows = "\n".join(f"t{number},1" for number in range(MOST_ROWS + 1))
    assert "200,001 rows; at most 200,000" in refused(written(tmp_path, f"instanceType,price\n{rows}\n", "p.csv"))


HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


def test_a_policy_names_its_file_beside_itself_and_the_command_line_another(tmp_path: Path) -> None:
    """``prices.file`` is relative to the policy; the file given instead is read in its place, which may be missing."""
    written(tmp_path, {"currency": "EUR", "prices": ROWS})
    policy = written(tmp_path, f"{HEAD}prices: {{file: prices.json, hoursPerMonth: 100}}\n", "p.yaml")
    prices = load_policy([policy]).prices
    assert (prices.currency, prices.a_month(labels(instanceType="c-4x"))) == ("EUR", 40)
    other = written(tmp_path, {"per": "month", "prices": [{"instanceType": "c-4x", "price": 7}]}, "other.json")
    absent = written(tmp_path, f"{HEAD}prices: {{file: absent.json}}\n", "absent.yaml")
    assert load_policy([absent], other).prices.a_month(labels(instanceType="c-4x")) == 7
    with pytest.raises(PolicyError, match=r"absent\.json: cannot be read"):
        load_policy([absent])


def test_two_currencies_are_refused(tmp_path: Path) -> None:
    """Nothing is converted, so one of them must go."""
    file = written(tmp_path, {"currency": "EUR", "prices": ROWS})
    policy = written(tmp_path, f"{HEAD}prices: {{currency: USD}}\n", "p.yaml")
    with pytest.raises(PolicyError, match=r"found EUR, and the policy's prices\.currency is USD"):
        load_policy([policy], file)


def test_label_beats_file_beats_default(tmp_path: Path) -> None:
    """A label that is no price is passed over; what is found nowhere has the default."""
    file = written(tmp_path, {"per": "month", "prices": ROWS})
    text = "prices: {label: example.com/hourly-price, default: 1, hoursPerMonth: 10}\n"
    prices = load_policy([written(tmp_path, HEAD + text, "p.yaml")], file).prices
    known = labels(instanceType="c-4x")
    assert prices.a_month({**known, "example.com/hourly-price": "0.5"}) == 5
    assert prices.a_month({**known, "example.com/hourly-price": "cheap"}) == 0.4
    assert prices.a_month({"example.com/hourly-price": "-1"}) == 10


def test_tables_are_equal_that_say_the_same(tmp_path: Path) -> None:
    """A policy that is read again is no other policy; one whose prices have changed is."""
    file = written(tmp_path, {"prices": ROWS})
    once, again = read_prices(file), read_prices(file)
    assert once == again
    assert hash(once) == hash(again)
    dearer = written(tmp_path, {"prices": [{**ROWS[0], "price": 0.5}, *ROWS[1:]]}, "dearer.json")
    assert read_prices(dearer) != once
