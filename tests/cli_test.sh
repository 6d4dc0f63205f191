#!/usr/bin/env bash
# The program from outside: bad input, a full disk, Ctrl-C, a killed worker, and three launch styles on the host backend.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*" && failures=$((failures + 1)); }
quick=(--backend host --rounds 2 --replays 3 --ops 2 --row-seconds 0.01)

# refused FRAGMENT ARGS...: exit 2, one line on stderr with the fragment, nothing on stdout, no output folder.
refused() {
  local fragment=$1 code=0
  shift
  "$ARBENCH" "$@" --out "$work/none" >"$work/stdout" 2>"$work/stderr" || code=$?
  [[ $code == 2 ]] || fail "$*: exit code $code, not 2"
  [[ $(wc -l <"$work/stderr") == 1 ]] || fail "$*: $(wc -l <"$work/stderr") lines on stderr"
  grep -qF -- "$fragment" "$work/stderr" || fail "$*: no '$fragment' in: $(cat "$work/stderr")"
  [[ ! -s $work/stdout ]] || fail "$*: something on stdout"
  [[ ! -e $work/none ]] || { fail "$*: left an output folder" && rm -rf "$work/none"; }
}

refused --algo run --backend host --algo one_shot_pul
refused --dtype run --dtype fp16
refused --model run --model kimi
refused --mode run --mode lazy
refused -b run -b 0
refused -i run -i 0
refused -f run -f 1
refused -f run -f abc
refused -b run -b 1Gx
refused -b run -b nan
refused -b run -b inf
refused -b run -b -5
refused -b run -b 2M -e 1M
refused --gpus run --gpus -2
refused --gpus run --gpus 1
refused --gpus run --gpus 99
refused --devices run --devices 7,8
refused --virtual run --virtual 1
refused --blocks run --blocks 0
refused --rounds run --rounds 0
refused --timeout run --timeout 0
refused --nccl-loopback run --nccl-loopback
refused --nonsense run --nonsense

touch "$work/file"
for bad in "$work/file" "$work/file/below" /proc/none; do
  "$ARBENCH" run "${quick[@]}" --sizes 1K --gpus 2 --out "$bad" >/dev/null 2>"$work/stderr"
  code=$?
  [[ $code == 2 ]] || fail "--out $bad: exit code $code, not 2"
  grep -q -- --out "$work/stderr" || fail "--out $bad: $(cat "$work/stderr")"
done

# status_counts FOLDER: "ok 4" lines.
status_counts() {
  python3 - "$1" <<'END'
import collections, csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/rows.csv")))
run = json.load(open(sys.argv[1] + "/run.json"))
assert len(run["rows"]) == len(rows), "run.json and rows.csv differ"
assert all(r["reason"] for r in rows if r["status"] not in ("ok",)), "a row without its reason"
for key, count in sorted(collections.Counter(r["status"] for r in rows).items()):
    print(key, count)
END
}

for launch in threads processes grid; do
  "$ARBENCH" run "${quick[@]}" --sizes 1K,5000 --gpus 2,3 --launch $launch --out "$work/$launch" \
    >"$work/stdout" 2>/dev/null || fail "$launch: exit code $?"
  grep -q one_shot_pull "$work/stdout" || fail "$launch: no table"
done
[[ $(status_counts "$work/threads") == "ok 40" ]] || fail "threads: $(status_counts "$work/threads")"
[[ $(status_counts "$work/processes") == "ok 40" ]] || fail "processes: $(status_counts "$work/processes")"
[[ $(status_counts "$work/grid") == $'ok 32\nskipped 8' ]] || fail "grid: $(status_counts "$work/grid")"
refused --out run "${quick[@]}" --sizes 1K --gpus 2 --out "$work/threads"

"$ARBENCH" list 2>/dev/null | grep -q "^ring_simple" || fail "list"
"$ARBENCH" run --dry-run --backend host --sizes 1K --gpus 2 2>/dev/null |
  grep -q "allreduce/ring_simple/bf16/g2/graph/hot/1024" || fail "--dry-run"
"$ARBENCH" doctor | grep -q verdict || fail "doctor"
"$ARBENCH" --help | grep -q -- --nccl-loopback || fail "--help"

# A disk that is full: files may not grow beyond a few blocks.
(ulimit -f 8 && trap '' XFSZ && exec "$ARBENCH" run "${quick[@]}" -b 64 -e 4K --gpus 2 --out "$work/full") \
  >/dev/null 2>"$work/stderr"
code=$?
[[ $code == 1 ]] || fail "full disk: exit code $code, not 1: $(tail -1 "$work/stderr")"
[[ $(wc -l <"$work/full/rows.csv") -ge 2 ]] || fail "full disk: rows are not kept"

# Ctrl-C in the middle: finished rows are on disk, no worker is left.
"$ARBENCH" run --backend host --gpus 2 -b 1K -e 16M --out "$work/cut" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 300); do
  [[ -e $work/cut/rows.csv && $(wc -l <"$work/cut/rows.csv") -gt 3 ]] && break
  sleep 0.1
done
kill -INT $pid
wait $pid
code=$?
[[ $code == 130 ]] || fail "Ctrl-C: exit code $code, not 130"
[[ $(wc -l <"$work/cut/rows.csv") -gt 3 ]] || fail "Ctrl-C: rows are not kept"
python3 -c 'import json,sys; sys.exit(json.load(open(sys.argv[1]))["complete"])' "$work/cut/run.json" ||
  fail "Ctrl-C: run.json says it is complete"
pgrep -f "$work/cut" >/dev/null && fail "Ctrl-C: a process is left"

((failures == 0)) && echo "all passed"
exit $((failures > 0))
