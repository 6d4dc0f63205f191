#!/usr/bin/env bash
# scripts/self_check.sh: its launches on this machine, and the counts it draws the line at with a program
# that gives known verdicts. What verdicts real times lead to is not asserted.
. "$(dirname "$0")/cli.sh"
script=$(dirname "$0")/../scripts/self_check.sh
small=(--sizes "64,1K" --gpus 2 --algo 'one_shot*' --rounds 2 --replays 3 --row-seconds 0.01 --backend host)

# check OPTIONS...: as run() does for the program itself.
check() {
  code=0
  timeout 200 "$script" "$@" >"$folder/stdout" 2>"$folder/stderr" || code=$?
}

test_launches() {
  local out=$folder/real part
  check "${ARBENCH%/*}" "$out" same slow -- "${small[@]}"
  for part in a b slow; do
    expect "launches of $part" "launch-1 launch-2 launch-3" "$(cd "$out/$part" && echo launch-?)"
    expect "rows of $part" "Counter({'ok': 4})" \
      "$(results "$out/$part/launch-3" 'Counter(row["status"] for row in rows)')"
  done
  expect "order" "a1 b1 slow1 slow2 b2 a2 a3 b3 slow3" \
    "$(sed -n 's/self_check: \(.*\), launch /\1/p' "$folder/stderr" | tr '\n' ' ' | sed 's/ $//')"
  expect "ops that are counted" "{'100'}" "$(results "$out/slow/launch-1" '{row["ops_per_graph"] for row in rows}')"
  expect "remark of a slowed row" "{'slowed down on purpose: 103 ops run, 100 are counted'}" \
    "$(results "$out/slow/launch-1" '{row["reason"] for row in rows}')"
  expect "remark of another row" "{''}" "$(results "$out/a/launch-1" '{row["reason"] for row in rows}')"
  expect "lines" "the same program twice: N of 4 rows SAME (at least 95 of 100)
slowed by 3 %: N of 4 rows SLOWER (at least 95 of 100)" "$(sed 's/: [0-4] of/: N of/' "$folder/stdout")"
  check "${ARBENCH%/*}" "$out" same slow -- "${small[@]}"
  expect "launches that were whole and ran again" "" "$(<"$folder/stderr")"
}

# fake WORD COUNT: a build whose compare gives 100 verdicts, COUNT of them WORD.
fake() {
  mkdir -p "$folder/fake"
  cat >"$folder/fake/arbench" <<END2
#!/usr/bin/env bash
while ((\$#)); do
  case \$1 in --out) mkdir -p "\$2" && touch "\$2/rows.csv" ;; --csv) csv=\$2 ;; esac
  shift
done
[[ -z \${csv:-} ]] || {
  echo "verdict,ratio,name"
  for ((i = 0; i < 100; ++i)); do if ((i < $2)); then echo "$1,1,x"; else echo "UNCLEAR,1,x"; fi; done
} >"\$csv"
END2
  chmod +x "$folder/fake/arbench"
}

test_line_is_drawn_at_95() {
  fake SAME 95 && check "$folder/fake" "$folder/counts" same
  expect "exit code at 95" 0 "$code"
  expect "line at 95" "the same program twice: 95 of 100 rows SAME (at least 95 of 100)" "$(<"$folder/stdout")"
  fake SAME 94 && check "$folder/fake" "$folder/counts" same
  expect "exit code at 94" 1 "$code"
  fake SLOWER 95 && check "$folder/fake" "$folder/counts" slow
  expect "exit code at 95 slower" 0 "$code"
  fake SLOWER 94 && check "$folder/fake" "$folder/counts" slow
  expect "exit code at 94 slower" 1 "$code"
  fake FASTER 100 && check "$folder/fake" "$folder/counts" slow
  expect "exit code of verdicts the wrong way" 1 "$code"
}

test_what_was_not_run_does_not_pass() {
  fake SAME 100 && check "$folder/fake" "$folder/plain" plain
  expect "exit code without a plain loop" 1 "$code"
  grep -q "^plain loop: not run" "$folder/stdout" || fail "no word of the plain loop: $(<"$folder/stdout")"
}

test_refuses() {
  check "${ARBENCH%/*}" "$folder/none" all
  expect "exit code with an unknown part" 2 "$code"
  expect "what is accepted" "self_check: unknown part 'all'; accepts same, slow, plain" "$(head -n 1 "$folder/stderr")"
  check "$folder" "$folder/none"
  expect "exit code without a program" 2 "$code"
  check "${ARBENCH%/*}"
  expect "exit code without a folder" 2 "$code"
  [[ ! -e $folder/none ]] || fail "a refused call left files"
}

test_launches
test_line_is_drawn_at_95
test_what_was_not_run_does_not_pass
test_refuses
report
