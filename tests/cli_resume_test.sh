#!/usr/bin/env bash
# Runs that are killed and go on with --resume: in the end each case has one row, as in a run that was never cut.
source "${BASH_SOURCE[0]%/*}/cli.sh"

# Two contenders at each of six sizes, some tenths of a second per point.
sweep=(--backend host --gpus 2 --mode eager --algo 'one_shot_pull,two_shot_pull' --rounds 5 --replays 200
  --row-seconds 0.1 --sizes '64,128,256,512,1K,2K')

names() { results "$1" '"\n".join(sorted(row["name"] for row in rows))'; }

# Ends a run into $1 by SIGKILL as soon as rows.csv has $2 rows, and $3 seconds later.
kill_after() {
  local pid
  "$ARBENCH" "${sweep[@]}" "${@:4}" --out "$1" >"$folder/stdout" 2>"$folder/stderr" &
  pid=$!
  await_rows "$1" "$2"
  sleep "$3"
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
}

expect_whole() {
  expect "rows of $1" "$(<"$folder/names")" "$(names "$1")"
  expect "statuses of $1" "{'ok'}" "$(results "$1" '{row["status"] for row in rows}')"
  expect "complete and rows of run.json of $1" "(True, 12)" \
    "$(results "$1" '(run["complete"], len(run["rows"]))')"
  expect "run.json of $1 holds the rows of rows.csv" True "$(results "$1" \
    '[(row["name"], row["lat_us_median"]) for row in run["rows"]] == '\
'[(row["name"], float(row["lat_us_median"])) for row in rows]')"
  expect "samples of each row of $1" True "$(results "$1" \
    'Counter(sample["name"] for sample in samples) == {row["name"]: int(row["samples"]) for row in rows}')"
  expect "run_id of $1" 1 "$(results "$1" 'len({row["run_id"] for row in rows})')"
  expect "lines of the table of $1" 6 "$(grep -c '^ *[0-9]* \(B\|KiB\) ' "$folder/stdout")"
}

test_killed() {
  local out=$folder/killed_$1_$2
  kill_after "$out" "$1" "$2"
  run "${sweep[@]}" --resume "$out"
  expect "exit code of --resume after $1 rows" 0 "$code"
  grep -q '^info: [0-9]* of 12 rows are done$' "$folder/stderr" || fail "stderr: $(<"$folder/stderr")"
  expect_whole "$out"
}

# Twice, so that what goes on may be cut as well; then what is whole stays as it is.
test_killed_twice() {
  local out=$folder/twice before
  kill_after "$out" 2 0
  "$ARBENCH" "${sweep[@]}" --resume "$out" >/dev/null 2>&1 &
  local pid=$!
  await_rows "$out" 6
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  run "${sweep[@]}" --resume "$out"
  expect_whole "$out"
  expect "times that it went on" 2 "$(results "$out" 'len(run["environment"]["resumed"])')"
  before=$(md5sum "$out/rows.csv" "$out/samples.csv")
  run "${sweep[@]}" --resume "$out"
  expect "exit code when all is done" 0 "$code"
  expect "files when all was done" "$before" "$(md5sum "$out/rows.csv" "$out/samples.csv")"
  expect_whole "$out"
}

# What a machine that lost power may leave: a half line in both files.
test_half_lines() {
  local out=$folder/half
  kill_after "$out" 4 0
  truncate -s -20 "$out/rows.csv"
  printf 'allreduce/one_sh' >>"$out/samples.csv"
  run "${sweep[@]}" --resume "$out"
  expect "exit code after half lines" 0 "$code"
  expect_whole "$out"
}

# A worker that is killed makes an error row, which stays unless it is to be repeated.
test_failed_rows() {
  local out=$folder/failed pid
  "$ARBENCH" "${sweep[@]}" --out "$out" >/dev/null 2>&1 &
  pid=$!
  await_rows "$out" 2
  kill -KILL "$(pgrep -P "$pid" | head -n 1)"
  wait "$pid"
  expect "failed rows" 1 "$(results "$out" 'sum(row["status"] == "error" for row in rows)')"
  run "${sweep[@]}" --resume "$out"
  expect "exit code with the failed row" 8 "$code"
  expect "failed rows that stay" 1 "$(results "$out" 'sum(row["status"] == "error" for row in rows)')"
  run "${sweep[@]}" --resume "$out" --retry-failed
  expect "exit code when it was repeated" 0 "$code"
  expect_whole "$out"
}

# What differs is named, and nothing is touched.
test_refused() {
  local out=$folder/refused before
  run "${sweep[@]}" --out "$out"
  before=$(md5sum "$out"/*)
  refuses() {
    run "${@:2}"
    expect "exit code of '${*:2}'" 2 "$code"
    expect "stderr of '${*:2}'" "arbench: $1" "$(<"$folder/stderr")"
    expect "files after '${*:2}'" "$before" "$(md5sum "$out"/*)"
  }
  refuses "--resume $out: is of another run: rounds was 5 there, is 6 now" \
    "${sweep[@]/#5/6}" --resume "$out"
  refuses "--resume $out: is of another run: dtypes was [\"bf16\"] there, is [\"f32\"] now" \
    "${sweep[@]}" --dtype f32 --resume "$out"
  refuses "--resume $folder/none: cannot read run.json; it takes the folder of --out" \
    "${sweep[@]}" --resume "$folder/none"
  refuses "--resume $out: accepts no --out x beside it: what is new goes into the same folder" \
    "${sweep[@]}" --resume "$out" --out x
  refuses "--retry-failed: needs --resume, which accepts the folder of a cut run" \
    "${sweep[@]}" --retry-failed
  sed -i 's/"compiler": "/"compiler": "other /' "$out/run.json"
  before=$(md5sum "$out"/*)
  run "${sweep[@]}" --resume "$out"
  expect "exit code for another build" 2 "$code"
  grep -q 'is of another run: compiler was "other ' "$folder/stderr" || fail "$(<"$folder/stderr")"
}

run "${sweep[@]}" --out "$folder/uncut"
names "$folder/uncut" >"$folder/names"
expect "rows of an uncut run" 12 "$(wc -l <"$folder/names")"
test_killed 0 0
test_killed 2 0.05
test_killed 4 0.2
test_killed 10 0.1
test_killed_twice
test_half_lines
test_failed_rows
test_refused
report
