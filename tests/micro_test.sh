#!/usr/bin/env bash
# arbench_micro on the host backend: every benchmark is there, has a positive time and no error. One
# line on stderr says so when there is no device for the cuda ones.
set -euo pipefail

program=${ARBENCH_BUILD:?}/arbench_micro
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

timeout 280 "$program" --benchmark_filter=host --benchmark_min_time=0.001 --benchmark_format=json \
  >"$folder/host.json" 2>"$folder/stderr"
timeout 60 "$program" --benchmark_list_tests >"$folder/names" 2>/dev/null

python3 - "$folder" <<'END'
import json
import re
import sys

folder = sys.argv[1]
expected = {"signal_round_trip/host", "launch/host"}
expected |= {f"graph_replay_per_op/{ops}/host" for ops in (1, 20, 200)}
expected |= {f"pack_add/{dtype}/host/{size}" for dtype in ("f16", "bf16", "f32")
             for size in (4 << 10, 1 << 20, 64 << 20)}


def plain(name):
    """Without what Google Benchmark appends."""
    return re.sub(r"/iterations:.*", "", name.strip())


with open(f"{folder}/host.json") as file:
    rows = {plain(row["name"]): row for row in json.load(file)["benchmarks"]}
assert rows.keys() == expected, f"missing or unexpected: {sorted(rows.keys() ^ expected)}"
for name, row in rows.items():
    assert not row.get("error_occurred"), f"{name}: {row.get('error_message')}"
    assert row["real_time"] > 0, f"{name}: time {row['real_time']}"
    if name.startswith("pack_add/"):
        size = int(name.rsplit("/", 1)[1])
        rate = 3 * size / row["real_time"] * 1e6  # times are in microseconds
        assert abs(row["bytes_per_second"] / rate - 1) < 0.01, f"{name}: {row}"
    if name.startswith(("launch/", "graph_replay_per_op/")):
        assert row["host_us"] > 0, f"{name}: host_us {row['host_us']}"

names = {plain(line) for line in open(f"{folder}/names")}
on_cuda = {name for name in names if "/cuda" in name}
told = [line for line in open(f"{folder}/stderr") if "no cuda benchmarks: " in line]
assert names >= expected, f"not listed: {sorted(expected - names)}"
assert on_cuda in (set(), {name.replace("/host", "/cuda") for name in expected}), on_cuda
assert len(told) == (0 if on_cuda else 1), told
print(f"{len(rows)} host benchmarks, {len(on_cuda)} cuda benchmarks")
END
