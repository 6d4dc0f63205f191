#!/usr/bin/env bash
# Runs that are cut: what was finished is on disk, and no process stays behind.
source "${BASH_SOURCE[0]%/*}/cli.sh"

# Some seconds, of which most tests use the first one or two: two contenders at each of eight sizes. None is measured twice,
# so that a reason does not depend on which of the two was cut.
long=(--backend host --no-aa --gpus 2 --mode eager --algo 'one_shot_pull,two_shot_pull' --rounds 10
  --replays 1000 --row-seconds 0.3 --sizes '64,128,256,512,1K,2K,4K,8K')

# Starts a run into the result folder $1, in a process group of its own as a terminal does, and
# leaves $pid.
start() {
  setsid "$ARBENCH" "${long[@]}" "${@:2}" --out "$1" >"$folder/stdout" 2>"$folder/stderr" &
  pid=$!
  group=$pid
}

# Nothing that was started with the result folder $1 runs any more.
expect_no_process() {
  local i
  for ((i = 0; i < 50; ++i)); do
    pgrep -f -- "$1" >/dev/null || { group='' && return; }
    sleep 0.1
  done
  fail "processes are left: $(pgrep -af -- "$1")"
}

expect_rows_kept() {
  expect "statuses of $1" "{'ok'}" "$(results "$1" '{row["status"] for row in rows}')"
  expect "$1: complete" False "$(results "$1" 'run["complete"]')"
}

# Ctrl-C reaches all processes of the group; SIGTERM is for the program alone.
test_interrupt() {
  local launch=$1 signal=$2 target=$3 out=$folder/$1_$2 pid
  start "$out" --launch "$launch"
  await_rows "$out" 2
  kill "-$signal" -- "${target/PID/$pid}"
  code=0
  wait "$pid" || code=$?
  expect "exit code after SIG$signal" 130 "$code"
  expect_no_process "$out"
  expect_rows_kept "$out"
  expect "rows in both files" True "$(results "$out" '2 <= len(run["rows"]) == len(rows) < 16')"
  grep -q '^warning: interrupted: [0-9]* of 16 rows are done$' "$folder/stderr" ||
    fail "stderr after SIG$signal: $(<"$folder/stderr")"
  grep -q one_shot_pull "$folder/stdout" || fail "no table after SIG$signal"
}

# Not even a killed coordinator leaves workers, or half a row.
test_killed() {
  local out=$folder/killed pid
  start "$out" --launch processes
  await_rows "$out" 2
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  expect_no_process "$out"
  expect_rows_kept "$out"
}

# A killed worker costs one row, which says which rank it was.
test_killed_worker() {
  local out=$folder/worker pid
  start "$out" --launch processes
  await_rows "$out" 2
  kill -KILL "$(pgrep -P "$pid" | head -n 1)"
  code=0
  wait "$pid" || code=$?
  expect "exit code with an error row" 8 "$code"
  expect "statuses" "[('error', 1), ('ok', 15)]" \
    "$(results "$out" 'sorted(Counter(row["status"] for row in rows).items())')"
  expect "error row" True "$(results "$out" 'all(row["reason"] in ["the worker of rank %d was " \
    "ended by signal 9 (Killed)" % rank for rank in (0, 1)] for row in rows if row["reason"])')"
  expect "complete" True "$(results "$out" 'run["complete"]')"
  expect_no_process "$out"
}

# Files may grow to 400 KiB, as on a disk that is nearly full: samples.csv gets there first.
test_full_disk() {
  local out=$folder/full
  code=0
  (
    trap '' XFSZ
    ulimit -f 400
    exec "$ARBENCH" --backend host --gpus 2 --mode eager --algo one_shot_pull --ops 1 --rounds 20 \
      --replays 100 --row-seconds 1000 --sizes '64,128,256,512,1K,2K,4K,8K' --out "$out"
  ) >"$folder/stdout" 2>"$folder/stderr" || code=$?
  expect "exit code on a full disk" 1 "$code"
  expect "stderr on a full disk" \
    "arbench: cannot write $out/samples.csv: File too large; rows finished before are kept" \
    "$(tail -n 1 "$folder/stderr")"
  expect_rows_kept "$out"
  expect "rows" True "$(results "$out" '1 <= len(rows) == len(run["rows"]) < 8')"
  expect "samples" True "$(results "$out" 'len(samples) == 2000 * len(rows)')"
}

# With one sample per visit Google Benchmark's file is the largest, and written by a library that tells of no error.
# The limit, in KiB, lets the ranks' 256 KiB of shared memory through.
test_full_disk_of_google_benchmark() {
  local out=$folder/full_google
  code=0
  (
    trap '' XFSZ
    ulimit -f 260
    exec "$ARBENCH" --backend host --gpus 2 --mode eager --algo one_shot_pull --ops 1 --rounds 150 \
      --replays 1 --sizes '64,128,256,512,1K,2K,4K,8K' --out "$out"
  ) >"$folder/stdout" 2>"$folder/stderr" || code=$?
  expect "exit code when Google Benchmark's file does not fit" 1 "$code"
  expect "stderr when Google Benchmark's file does not fit" "arbench: cannot write \
$out/google_benchmark.json: File too large; rows finished so far are kept" "$(tail -n 1 "$folder/stderr")"
  expect_rows_kept "$out"
  expect "rows" True "$(results "$out" '1 <= len(rows) == len(run["rows"]) < 8')"
}

# The folder goes away during the run: nothing is left to keep, but the run ends and says so.
test_vanished_folder() {
  local out=$folder/vanished pid
  start "$out"
  await_rows "$out" 2
  mv "$out" "$folder/elsewhere"
  code=0
  wait "$pid" || code=$?
  expect "exit code without the folder" 1 "$code"
  grep -q "^arbench: cannot write $out/.*: it was moved or deleted during the run; rows finished \
before are kept$" "$folder/stderr" || fail "stderr without the folder: $(<"$folder/stderr")"
  expect_no_process "$out"
  expect "rows of the moved folder" True "$("$python" -c 'import csv, sys
print(len(list(csv.DictReader(open(sys.argv[1], newline="")))) >= 2)' "$folder/elsewhere/rows.csv")"
}

test_interrupt threads INT -PID
test_interrupt processes INT -PID
test_interrupt processes TERM PID
test_killed
test_killed_worker
test_full_disk
test_full_disk_of_google_benchmark
test_vanished_folder
report
