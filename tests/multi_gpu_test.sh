#!/usr/bin/env bash
# scripts/multi_gpu.sh with the devices of this machine, or without any: its parts, their conditions, and
# that a cut part is gone on with.
. "$(dirname "$0")/cli.sh"
script=$(dirname "$0")/../scripts/multi_gpu.sh
small=(--sizes "64,1K" --gpus 2 --row-seconds 0.01 --backend host)

# multi OPTIONS...: as run() does for the program itself.
multi() {
  code=0
  timeout 200 "$script" "$@" >"$folder/stdout" 2>"$folder/stderr" || code=$?
}

test_parts() {
  local out=$folder/parts
  multi --program "$ARBENCH" "$out" -- "${small[@]}"
  expect "exit code" 0 "$code"
  expect "files" "doctor.txt host host.txt p2p p2p.txt self-test.txt topology.txt" "$(cd "$out" && echo *)"
  grep -q "^broken_no_tail .* caught: wrong" "$out/self-test.txt" || fail "self-test.txt: no control is caught"
  expect "transport of p2p" "{'p2p'}" "$(results "$out/p2p" '{row["transport"] for row in rows}')"
  expect "transport of host" "{'host'}" "$(results "$out/host" '{row["transport"] for row in rows}')"
  local nccl='[run["environment"]["variables"].get("NCCL_" + v) for v in ("NVLS_ENABLE", "P2P_DISABLE")]'
  expect "NCCL's variables of p2p" "['0', None]" "$(results "$out/p2p" "$nccl")"
  expect "NCCL's variables of host" "['0', '1']" "$(results "$out/host" "$nccl")"
  expect "last line of the table" "exit code 0" "$(tail -n 1 "$out/p2p.txt")"
  expect "ran through host memory" "{'one_shot_push'}" \
    "$(results "$out/host" '{row["algo"] for row in rows if row["status"] == "ok"}')"
}

# As after a cut: half of the rows are gone.
test_goes_on() {
  local out=$folder/goes_on
  multi --program "$ARBENCH" "$out" p2p -- "${small[@]}"
  expect "rows" 20 "$(results "$out/p2p" 'len(rows)')"
  head -n 8 "$out/p2p/rows.csv" >"$folder/half" && cp "$folder/half" "$out/p2p/rows.csv"
  multi --program "$ARBENCH" "$out" p2p -- "${small[@]}"
  expect "exit code of the second call" 0 "$code"
  expect "rows after it" 20 "$(results "$out/p2p" 'len({row["name"] for row in rows})')"
  expect "rows kept" "$(sed -n 2,8p "$folder/half")" "$(sed -n 2,8p "$out/p2p/rows.csv")"
  expect "no part that was not asked for" "p2p p2p.txt" "$(cd "$out" && echo *)"
}

test_exit_code_is_the_highest() {
  cat >"$folder/fails" <<'END'
#!/bin/sh
case "$*" in *transport*) exit 7 ;; run*) exit 4 ;; esac
END
  chmod +x "$folder/fails"
  multi --program "$folder/fails" "$folder/codes"
  expect "exit code" 7 "$code"
  expect "code of p2p" "exit code 4" "$(tail -n 1 "$folder/codes/p2p.txt")"
  expect "code of host" "exit code 7" "$(tail -n 1 "$folder/codes/host.txt")"
}

test_refuses() {
  multi --program "$ARBENCH" "$folder/none" p2p all
  expect "exit code with an unknown part" 2 "$code"
  expect "what is accepted" "multi_gpu: unknown part 'all'; accepts doctor, self-test, p2p, host" \
    "$(<"$folder/stderr")"
  multi --program "$ARBENCH"
  expect "exit code without a folder" 2 "$code"
  [[ ! -e $folder/none ]] || fail "a refused call left files"
}

test_parts
test_goes_on
test_exit_code_is_the_highest
test_refuses
report
