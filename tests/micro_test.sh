#!/usr/bin/env bash
# The micro-benchmarks of the host backend run, each with a positive time and without an error.
set -euo pipefail
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$ARBENCH_BUILD/arbench_micro" --benchmark_filter='/host' --benchmark_out="$out" \
  --benchmark_out_format=json >/dev/null
python3 - "$out" <<'END'
import json, sys
rows = {r["name"].split("/iterations")[0]: r for r in json.load(open(sys.argv[1]))["benchmarks"]}
wanted = ["signal_round_trip/host", "launch/host"]
wanted += [f"graph_replay_per_op/{k}/host" for k in (1, 20, 200)]
wanted += [f"pack_add/{d}/{b}/host" for d in ("f16", "bf16", "f32") for b in (4096, 1048576)]
bad = [n for n in wanted if n not in rows or "error_message" in rows[n] or rows[n]["real_time"] <= 0]
print("missing or wrong:", bad) if bad else print(len(wanted), "micro-benchmarks")
sys.exit(1 if bad or len(rows) != len(wanted) else 0)
END
