#!/usr/bin/env bash
# The program from end to end on the host backend: what it prints and what it writes.
source "${BASH_SOURCE[0]%/*}/cli.sh"

quick=(--backend host --rounds 2 --replays 3 --ops 2)

test_help() {
  run --help
  expect "exit code of --help" 0 "$code"
  expect "first word of --help" "usage: arbench [run] [options]" \
    "$(head -n 1 "$folder/stdout" | cut -c 1-30)"
  grep -q -- --nccl-loopback "$folder/stdout" || fail "--help does not show --nccl-loopback"
}

# What rows.csv calls build_id.
test_version() {
  run --version
  expect "exit code of --version" 0 "$code"
  local version
  version=$(<"$folder/stdout")
  run "${quick[@]}" --gpus 2 --sizes 64 --algo ring_simple --mode eager --out "$folder/version"
  expect "--version" "arbench $(results "$folder/version" 'rows[0]["build_id"]')" "$version"
}

test_list() {
  local command
  for command in list --list; do
    run "$command" --backend host
    expect "exit code of $command" 0 "$code"
    expect "ring_simple in $command" 1 "$(grep -c '^ring_simple  ' "$folder/stdout")"
    expect "lines of $command in order" "$(sort "$folder/stdout")" "$(<"$folder/stdout")"
    expect "stderr of $command" "" "$(<"$folder/stderr")"
  done
}

test_doctor() {
  run doctor
  expect "exit code of doctor" 0 "$code"
  grep -q verdict "$folder/stdout" || fail "doctor has no verdict"
}

test_dry_run() {
  run "${quick[@]}" --gpus 2 --sizes 0,1K --mode graph --algo 'two_shot_pul*' --dry-run \
    --out "$folder/dry"
  expect "exit code of --dry-run" 0 "$code"
  expect "--dry-run" "allreduce/two_shot_pull/bf16/g2/graph/hot/0
allreduce/two_shot_pull/bf16/g2/graph/hot/1024
2 cases, about 2 s" "$(<"$folder/stdout")"
  [[ ! -e $folder/dry ]] || fail "--dry-run made a folder"
}

# Small sizes, and a name that cannot run here: one row per case of --dry-run, in its order.
test_sweep() {
  local arguments=("${quick[@]}" --gpus 2,3 --dtype f16,bf16,f32 --sizes 0,4,1000
    --placement 'out_of_place,in_place'
    --algo one_shot_pull,one_shot_push,p2p_copy_ring,ring_simple,two_shot_pull,nccl_ring)
  local out=$folder/a/b
  run "${arguments[@]}" --dry-run
  sed '$d' "$folder/stdout" >"$folder/names"
  expect "cases" 432 "$(wc -l <"$folder/names")"
  run "${arguments[@]}" --out "$out"
  expect "exit code of a sweep" 0 "$code"
  expect "lines on stderr" 2 "$(wc -l <"$folder/stderr")"
  grep -q '^info: 432 cases, about [0-9]* s, seed 1$' "$folder/stderr" || fail "no line on the sweep"
  grep -q '^info: [0-9.]* s, of which [0-9.]* s timed ([0-9]* %)$' "$folder/stderr" ||
    fail "no line on the time"
  expect "phases that took time" True \
    "$(results "$out" 'min(value for name, value in run["seconds"].items()) > 0')"
  expect "phases within the total" True \
    "$(results "$out" 'sum(run["seconds"][name] for name in "workers open verify warm_up rounds "'\
'"close rows".split()) < run["seconds"]["total"]')"
  expect "timed within the rounds" True \
    "$(results "$out" 'run["seconds"]["timed"] < run["seconds"]["rounds"]')"
  grep -q one_shot_push "$folder/stdout" || fail "the table does not show one_shot_push"
  expect "files" "google_benchmark.json rows.csv run.json samples.csv" \
    "$(ls "$out" | tr '\n' ' ' | sed 's/ $//')"
  results "$out" '"\n".join(row["name"] for row in rows)' >"$folder/found"
  cmp -s "$folder/names" "$folder/found" || fail "rows are not the cases of --dry-run"
  expect "statuses" "[('ok', 360), ('skipped', 72)]" \
    "$(results "$out" 'sorted(Counter(row["status"] for row in rows).items())')"
  expect "reasons of skipped rows" "{'needs the CUDA backend'}" \
    "$(results "$out" '{row["reason"] for row in rows if row["status"] == "skipped"}')"
  expect "samples per timed row" "{6}" \
    "$(results "$out" 'set(Counter(sample["name"] for sample in samples).values())')"
  expect "timed rows" 240 "$(results "$out" 'sum(row["lat_us_median"] != "" for row in rows)')"
  expect "0 bytes with a time" 0 \
    "$(results "$out" 'sum(row["bytes"] == "0" and row["lat_us_median"] != "" for row in rows)')"
  expect "wrong elements" "{'0'}" \
    "$(results "$out" '{row["wrong"] for row in rows if row["status"] == "ok"}')"
  expect "run.json" "(True, 432)" "$(results "$out" '(run["complete"], len(run["rows"]))')"
  expect "Google Benchmark's runs of each timed row" "{2}" "$("$python" -c 'import collections, json, sys
runs = json.load(open(sys.argv[1]))["benchmarks"]
print(set(collections.Counter(run["name"] for run in runs).values()))' "$out/google_benchmark.json")"
}

test_launch_style() {
  local launch=$1 names=$2 rows=$3
  run "${quick[@]}" --launch "$launch" --gpus 2,4 --sizes 2,57344 --algo "$names" \
    --out "$folder/$launch"
  expect "exit code of --launch $launch" 0 "$code"
  expect "--launch $launch" "{('ok', '$launch', ''): $rows}" \
    "$(results "$folder/$launch" \
      'dict(Counter((row["status"], row["launch"], row["reason"]) for row in rows))')"
}

test_grid_skips_what_is_no_kernel() {
  run "${quick[@]}" --launch grid --algo p2p_copy_ring --gpus 2 --sizes 1K --out "$folder/copy"
  expect "exit code of a skipped row" 0 "$code"
  expect "grid launch of copies" "{('skipped', 'is not one kernel: no grid launch')}" \
    "$(results "$folder/copy" '{(row["status"], row["reason"]) for row in rows}')"
}

test_help
test_version
test_list
test_doctor
test_dry_run
test_sweep
test_launch_style processes \
  one_shot_pull,one_shot_push,p2p_copy_ring,ring_simple,two_shot_pull 40
test_launch_style grid one_shot_pull,one_shot_push,ring_simple,two_shot_pull 32
test_grid_skips_what_is_no_kernel
report
