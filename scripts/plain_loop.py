#!/usr/bin/env python3
"""Compares arbench's graph times with those of bench/plain_loop.cpp, an independent and much simpler loop.

usage: plain_loop.py BUILD [--gpus LIST] [--sizes LIST] [--algo LIST] [--within PERCENT]

BUILD holds arbench and arbench_plain_loop. arbench runs before and after the plain loop (A B A), so that drift shows.
Exit code 1 if a case differs by more than PERCENT (default 2).
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile


def arbench(build, options):
    """Median us per op by (algorithm, ranks, bytes) of one run."""
    with tempfile.TemporaryDirectory() as out:
        call = [os.path.join(build, "arbench"), "run", "--mode", "graph", "--out", out]
        call += ["--gpus", options.gpus, "--sizes", options.sizes, "--algo", options.algo]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(out, "rows.csv"), newline="") as rows:
            return {
                (row["algo"], row["ngpus"], row["bytes"]): float(row["lat_us_median"])
                for row in csv.DictReader(rows)
                if row["status"] == "ok" and row["lat_us_median"]
            }


def plain(build, case):
    """The same figure from the plain loop."""
    call = [os.path.join(build, "arbench_plain_loop"), *case]
    text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    return float(re.search(r": ([0-9.]+) us/op", text).group(1))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("build")
    parser.add_argument("--gpus", default="2,8")
    parser.add_argument("--sizes", default="1K,57344,1M")
    parser.add_argument("--algo", default="one_shot*,two_shot*,ring*")
    parser.add_argument("--within", type=float, default=2.0)
    options = parser.parse_args()
    before = arbench(options.build, options)
    other = {case: plain(options.build, case) for case in before}
    after = arbench(options.build, options)
    print(f"{'algorithm':16} {'n':>2} {'bytes':>9} {'arbench':>9} {'again':>9} {'plain':>9} {'differs':>8}")
    far = 0
    for case, us in other.items():
        mean = (before[case] + after[case]) / 2
        percent = 100 * (us / mean - 1)
        far += abs(percent) > options.within
        algorithm, ranks, size = case
        print(
            f"{algorithm:16} {ranks:>2} {size:>9} {before[case]:9.3f} {after[case]:9.3f} {us:9.3f} {percent:+7.2f}%"
        )
    print(f"{len(other) - far} of {len(other)} within {options.within} %")
    return 1 if far or not other else 0


if __name__ == "__main__":
    sys.exit(main())
