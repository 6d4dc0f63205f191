#!/usr/bin/env bash
# scripts/compare_builds.sh: order and seeds of launches, what goes on when it was cut, what is refused. With programs that
# only write down how they were called, and with the host backend of the real one.
. "$(dirname "$0")/cli.sh"
script=$(dirname "$0")/../scripts/compare_builds.sh
tiny=(--backend host --gpus 2 --mode eager --algo ring_simple --sizes 64 --rounds 2 --replays 3 --ops 2)

# builds OPTIONS...: as run() does for the program itself.
builds() {
  code=0
  timeout 200 "$script" "$@" >"$folder/stdout" 2>"$folder/stderr" || code=$?
}

# fake BUILD VERSION: BUILD/arbench logs its runs and comparisons to $folder/log and does nothing else; $folder/codes may
# have lines "LAUNCH CODE" with its exit codes.
fake() {
  mkdir -p "$folder/$1"
  cat >"$folder/$1/arbench" <<END
#!/bin/bash
case "\$*" in
  --version) echo "arbench $2" ;;
  doctor) echo "  NCCL library    2.28.9  $folder/found.so" ;;
  *--dry-run*) [[ \$* != *wrong* ]] || { echo "arbench: --wrong: unknown" >&2 && exit 2; } ;;
  *)
    echo "$1: \$*" >>"$folder/log"
    words=\$*
    name=\${words##*/}
    [[ \$1 != compare ]] || name=compare
    exit \$(sed -n "s/^\$name //p" "$folder/codes" | grep . || echo 0) ;;
esac
END
  chmod +x "$folder/$1/arbench"
}

# The launches in the log, by their folders.
logged() { sed -n 's|^[AB]: run .*/||p' "$folder/log" | paste -sd ' '; }

# fresh: no log, and programs that work.
fresh() {
  rm -f "$folder/log"
  : >"$folder/codes"
}

fake A 1a2b3c4+cuda12.8+Release
fake B 1a2b3c4+cuda13.0+Release
touch "$folder/found.so" "$folder/other.so"

test_order_seeds_and_libraries() {
  local out=$folder/order
  fresh
  builds "$folder/A" "$folder/B/arbench" --out "$out" --nccl-b "$folder/other.so" -- --sizes 64
  expect "exit code" 0 "$code"
  expect "calls" "\
A: run --sizes 64 --seed 1 --nccl-lib $folder/found.so --out $out/a1
B: run --sizes 64 --seed 1 --nccl-lib $folder/other.so --out $out/b1
B: run --sizes 64 --seed 2 --nccl-lib $folder/other.so --out $out/b2
A: run --sizes 64 --seed 2 --nccl-lib $folder/found.so --out $out/a2
A: run --sizes 64 --seed 3 --nccl-lib $folder/found.so --out $out/a3
B: run --sizes 64 --seed 3 --nccl-lib $folder/other.so --out $out/b3
B: compare a1,a2,a3 b1,b2,b3 --csv compare.csv --markdown compare.md" "$(<"$folder/log")"
  fresh
  builds "$folder/A" "$folder/B" --out "$out" --nccl-b "$folder/other.so" --launches 4 -- --sizes 64
  expect "launches beside three that are there" "b4 a4" "$(logged)"
  expect "comparison of four" "B: compare a1,a2,a3,a4 b1,b2,b3,b4 --csv compare.csv --markdown compare.md" \
    "$(tail -n 1 "$folder/log")"
  fresh
  builds "$folder/A" "$folder/B" --out "$folder/one_library"
  expect "library of both" 6 "$(grep -c -- "--nccl-lib $folder/found.so" "$folder/log")"
}

test_failed_launches_are_named() {
  local out=$folder/failed
  fresh
  printf '%s\n' 'a2 4' 'b3 7' 'compare 3' >"$folder/codes"
  builds "$folder/A" "$folder/B" --out "$out" --fail-on-slower 2.5
  expect "exit code is the highest" 7 "$code"
  expect "launches" "a1 b1 b2 a2 a3 b3" "$(logged)"
  expect "what failed" "compare_builds: some rows failed in: a2 (exit code 4), b3 (exit code 7)" \
    "$(tail -n 1 "$folder/stderr")"
  fresh
  echo 'compare 3' >"$folder/codes"
  builds "$folder/A" "$folder/B" --out "$out"
  expect "exit code when nothing is left to launch" 7 "$code"
  expect "launches then" "" "$(logged)"
  builds "$folder/A" "$folder/B" --out "$folder/slower" --fail-on-slower 2.5
  expect "exit code with a slower row" 3 "$code"
  grep -q -- '--fail-on-slower 2.5$' "$folder/log" || fail "compare has no --fail-on-slower"
}

test_a_launch_that_ends_otherwise_stops() {
  local out=$folder/stops
  fresh
  echo 'b1 1' >"$folder/codes"
  builds "$folder/A" "$folder/B" --out "$out"
  expect "exit code" 1 "$code"
  expect "launches" "a1 b1" "$(logged)"
  expect "stderr" "compare_builds: stopped at b1, whose exit code is 1; what is finished is kept" \
    "$(tail -n 1 "$folder/stderr")"
  fresh
  builds "$folder/A" "$folder/B" --out "$out"
  expect "exit code of the second call" 0 "$code"
  expect "launches of the second call" "b1 b2 a2 a3 b3" "$(logged)"
}

# A program against itself. What the verdicts are is not for a test on a busy machine.
test_a_against_itself() {
  local out=$folder/itself launch
  builds "$ARBENCH" "$ARBENCH" --allow-mixed --out "$out" -- "${tiny[@]}"
  expect "exit code" 0 "$code"
  expect "files" "a1 a1.txt a2 a2.txt a3 a3.txt b1 b1.txt b2 b2.txt b3 b3.txt compare.csv compare.md plan.txt" \
    "$(cd "$out" && echo *)"
  expect "last line of a table" "exit code 0" "$(tail -n 1 "$out/b3.txt")"
  for launch in a1 b1 a3 b3; do
    expect "seed of $launch" "${launch:1}" "$(results "$out/$launch" 'run["config"]["seed"]')"
  done
  expect "lines of compare.csv" 2 "$(wc -l <"$out/compare.csv")"
  grep -q ', 0 not compared$' "$folder/stdout" || fail "stdout: $(<"$folder/stdout")"
  grep -q '^environment\|single launch\|toolkit' "$folder/stdout" && fail "differs from itself: $(<"$folder/stdout")"
  grep -q '^| verdict ' "$out/compare.md" || fail "no table in compare.md"
}

# Eight rows a launch, some tenths of a second per size.
long=(--backend host --gpus 2 --mode eager --algo 'one_shot_pull,two_shot_pull' --rounds 5 --replays 200
  --row-seconds 0.05 --sizes '64,128,256,512')

# start OUT: in a process group of its own, as a terminal does; leaves $pid.
start() {
  setsid env --default-signal=INT "$script" "$ARBENCH" "$ARBENCH" --allow-mixed --out "$1" -- "${long[@]}" \
    >"$folder/stdout" 2>"$folder/stderr" &
  pid=$!
  group=$pid
}

# Nothing of the process group runs any more.
expect_no_process() {
  local i
  for ((i = 0; i < 100; ++i)); do
    kill -0 -- "-$group" 2>/dev/null || { group='' && return; }
    sleep 0.1
  done
  fail "processes are left: $(pgrep -ag "$group")"
}

# goes_on OUT: the same call again, after a cut in b1.
goes_on() {
  local out=$1 a1 rows
  a1=$(md5sum "$out"/a1/*.csv "$out/a1/run.json")
  cp "$out/b1/rows.csv" "$folder/cut"
  rows=$(wc -l <"$folder/cut")
  builds "$ARBENCH" "$ARBENCH" --allow-mixed --out "$out" -- "${long[@]}"
  expect "exit code after the cut" 0 "$code"
  expect "a1, which was whole" "$a1" "$(md5sum "$out"/a1/*.csv "$out/a1/run.json")"
  expect "rows of b1 that were kept" "$(<"$folder/cut")" "$(head -n "$rows" "$out/b1/rows.csv")"
  expect "rows of b1" "(True, 8)" "$(results "$out/b1" '(run["complete"], len(rows))')"
  expect "launches that went on" "[1, 0]" "[$(results "$out/b1" 'len(run["environment"]["resumed"])'), \
$(results "$out/b2" 'len(run["environment"].get("resumed", []))')]"
  expect "lines of compare.csv" 9 "$(wc -l <"$out/compare.csv")"
}

test_killed() {
  local out=$folder/killed pid
  start "$out"
  await_rows "$out/b1" 2
  kill -KILL -- "-$group"
  wait "$pid" 2>/dev/null
  expect_no_process
  goes_on "$out"
}

# The script alone: its launch goes on by itself, and meanwhile nobody else may write there.
test_script_killed() {
  local out=$folder/script_killed pid
  start "$out"
  await_rows "$out/b1" 2
  kill -STOP -- "-$group"
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  builds "$ARBENCH" "$ARBENCH" --allow-mixed --out "$out" -- "${long[@]}"
  expect "exit code beside a launch" 2 "$code"
  expect "stderr beside a launch" "compare_builds: --out $out is in use: wait for the launch that runs there, or end it" \
    "$(<"$folder/stderr")"
  kill -KILL -- "-$group"
  expect_no_process
  goes_on "$out"
}

# Ctrl-C reaches all processes of the group; SIGTERM is for the script alone.
test_interrupted() {
  local out=$folder/$1 signal=$1 target=$2 pid
  start "$out"
  await_rows "$out/b1" 2
  kill "-$signal" -- "${target/PID/$pid}"
  code=0
  wait "$pid" || code=$?
  expect "exit code after SIG$signal" 130 "$code"
  expect_no_process
  expect "stderr after SIG$signal" "compare_builds: interrupted; the same call with --out $out goes on" \
    "$(tail -n 1 "$folder/stderr")"
  expect "complete after SIG$signal" False "$(results "$out/b1" 'run["complete"]')"
  goes_on "$out"
}

# refuses TEXT OPTIONS...: one line, exit code 2.
refuses() {
  builds "${@:2}"
  expect "exit code of '${*:2}'" 2 "$code"
  expect "stderr of '${*:2}'" "$1" "$(<"$folder/stderr")"
}

test_refuses() {
  local out=$folder/refused A=$folder/A B=$folder/B me=compare_builds
  fresh
  refuses "$me: accepts two builds, A and B, not 1" "$A"
  refuses "$me: '$folder/none' is no build: accepts a folder with an arbench in it, or an arbench" "$A" "$folder/none"
  refuses "$me: --launches 2: accepts a number from 3 to 99" "$A" "$B" --launches 2
  refuses "$me: --launches 08: accepts a number from 3 to 99" "$A" "$B" --launches 08
  refuses "$me: --out needs a value; see --help" "$A" "$B" --out
  refuses "$me: --fail-on-slower x: accepts a percentage from 0 to 1000" "$A" "$B" --fail-on-slower x
  refuses "$me: unknown option '--sizes'; accepts --launches, --out, --nccl-a, --nccl-b, --allow-mixed, \
--fail-on-slower, and options of arbench run behind --" "$A" "$B" --sizes 64
  refuses "$me: --seed behind --: not accepted there; each launch has its own seed and folder, and --nccl-a and \
--nccl-b name libraries" "$A" "$B" --out "$out" -- --sizes 64 --seed=3
  refuses "$me: '$folder/no.so' is no NCCL library: --nccl-a and --nccl-b accept the path of one" \
    "$A" "$B" --out "$out" --nccl-a "$folder/no.so"
  refuses "arbench: --wrong: unknown" "$A" "$B" --out "$out" -- --wrong
  printf '#!/bin/sh\n' >"$folder/mute" && chmod +x "$folder/mute"
  refuses "$me: $folder/mute does not answer to --version as arbench does" "$A" "$folder/mute"
  fake other 5d6e7f8+cuda13.0+Release
  fake dirty 1a2b3c4-dirty+cuda13.0+Release
  refuses "$me: A is of commit 1a2b3c4, B of 5d6e7f8: build both from one commit, or say --allow-mixed" \
    "$A" "$folder/other" --out "$out"
  refuses "$me: the builds hold changes that are not in commit 1a2b3c4: build both from one commit, or say \
--allow-mixed" "$folder/dirty" "$folder/dirty" --out "$out"
  refuses "$me: --out $folder/codes: cannot be written; accepts a folder" "$A" "$B" --out "$folder/codes"
  refuses "$me: --out $folder holds other files: accepts an empty folder, a new one, or that of a cut comparison" \
    "$A" "$B" --out "$folder"
  [[ ! -e $out && ! -e $folder/log ]] || fail "a refused call left files or launched"
  builds "$A" "$folder/other" --out "$out" --allow-mixed
  expect "exit code with --allow-mixed" 0 "$code"
}

# A call that goes on must be the same one.
test_refuses_another_plan() {
  local out=$folder/plan A=$folder/A B=$folder/B is="compare_builds: --out $folder/plan is of another comparison:" sum
  fresh
  builds "$A" "$B" --out "$out" -- --sizes 64
  fresh
  refuses "$is run options was '--sizes 64' there, is '--sizes 128' now" "$A" "$B" --out "$out" -- --sizes 128
  refuses "$is NCCL of B was '$folder/found.so' there, is '$folder/other.so' now" \
    "$A" "$B" --out "$out" --nccl-b "$folder/other.so" -- --sizes 64
  sum=$(sha256sum "$B/arbench" | cut -d ' ' -f 1)
  echo "# built again" >>"$B/arbench"
  refuses "$is B was '1a2b3c4+cuda13.0+Release $sum' there, is '1a2b3c4+cuda13.0+Release \
$(sha256sum "$B/arbench" | cut -d ' ' -f 1)' now" "$A" "$B" --out "$out" -- --sizes 64
  [[ ! -e $folder/log ]] || fail "a refused call launched: $(<"$folder/log")"
}

test_order_seeds_and_libraries
test_failed_launches_are_named
test_a_launch_that_ends_otherwise_stops
test_a_against_itself
test_killed
test_script_killed
test_interrupted INT -PID
test_interrupted TERM PID
test_refuses
test_refuses_another_plan
report
