"""Reads a rows.csv of arbench into points that can be drawn. No third-party module."""
import csv
from typing import NamedTuple

SCHEMA_VERSION = "1"
NEEDED = ("schema_version", "algo", "impl", "ngpus", "dtype", "bytes", "mode", "placement",
          "launch", "transport", "backend", "virtual", "gpu", "lat_us_median", "lat_us_ci_lo", "lat_us_ci_hi",
          "busbw_GBps", "status")


class Unusable(Exception):
    """The file cannot be used; the text is one line that says why."""


class Conditions(NamedTuple):
    """What must be equal for rows to be compared with each other."""
    gpu: str
    backend: str
    virtual: bool
    launch: str
    transport: str
    dtype: str
    placement: str


class Point(NamedTuple):
    """One measured size: bytes per rank, us per op with its 95 % interval, GB/s."""
    size: int
    median: float
    low: float
    high: float
    busbw: float


def read_rows(path):
    """All rows as dictionaries, at least one. Raises Unusable."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = checked_rows(csv.DictReader(file, strict=True))
    except OSError as error:
        raise Unusable(f"cannot be read ({error.strerror})") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise Unusable(f"is no CSV ({error})") from error
    versions = sorted({row["schema_version"] for row in rows} - {SCHEMA_VERSION})
    if versions:
        raise Unusable(f"has schema_version {versions[0]}, this script reads {SCHEMA_VERSION}")
    if not rows:
        raise Unusable("has no rows")
    return rows


def checked_rows(reader):
    if not reader.fieldnames:
        raise Unusable("is empty")
    missing = [name for name in NEEDED if name not in reader.fieldnames]
    if missing:
        raise Unusable("is no rows.csv of arbench: it has no column " + ", ".join(missing))
    rows = []
    for row in reader:
        if None in row or None in row.values():
            raise Unusable(f"line {reader.line_num} has not as many fields as the header")
        rows.append(row)
    return rows


def select(rows, dtype):
    """The rows of one element type, all if `dtype` is None. Raises Unusable if there are none."""
    known = sorted({row["dtype"] for row in rows})
    if dtype is not None and dtype not in known:
        raise Unusable(f"has no rows of dtype {dtype}, only {', '.join(known)}")
    return [row for row in rows if dtype in (None, row["dtype"])]


def points(rows):
    """{Conditions: {(ranks, mode): {contender: [Point, ...]}}}, ascending by size, of rows with a
    time. Of several rows for one point the last one counts. Raises Unusable."""
    found = {}
    for row in rows:
        if row["status"] != "ok" or not row["lat_us_median"]:
            continue  # it did not run, or had nothing to time
        conditions = Conditions(row["gpu"], row["backend"], row["virtual"] == "1", row["launch"],
                                row["transport"], row["dtype"], row["placement"])
        cold = ", cold L2" if row.get("l2") == "cold" else ""
        key = (positive(row, "ngpus", int), row["mode"] + cold)
        panel = found.setdefault(conditions, {}).setdefault(key, {})
        point = Point(positive(row, "bytes", int),
                      *(positive(row, name) for name in
                        ("lat_us_median", "lat_us_ci_lo", "lat_us_ci_hi", "busbw_GBps")))
        panel.setdefault(contender(row), {})[point.size] = point
    if not found:
        raise Unusable("has no row with a time")
    for panels in found.values():
        for panel in panels.values():
            for name, by_size in panel.items():
                panel[name] = [by_size[size] for size in sorted(by_size)]
    return found


def contender(row):
    """The algorithm, and the toolkit if another than the build's compiled it."""
    return " ".join(filter(None, (row["algo"], row.get("toolkit"))))


def positive(row, name, kind=float):
    try:
        value = kind(row[name])
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise Unusable(f"holds {name} {row[name]!r}: not a number above 0")
    return value
