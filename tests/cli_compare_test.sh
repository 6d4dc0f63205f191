#!/usr/bin/env bash
# arbench compare from end to end, on results of the host backend.
source "${BASH_SOURCE[0]%/*}/cli.sh"

refused() { # name, text in the message, arguments
  local name=$1 text=$2
  shift 2
  run "$@"
  expect "exit code of $name" 2 "$code"
  expect "lines of $name" 1 "$(wc -l <"$folder/stderr")"
  expect "stdout of $name" "" "$(<"$folder/stdout")"
  grep -qF -- "$text" "$folder/stderr" || fail "$name: no '$text' in $(<"$folder/stderr")"
}

run --backend host --gpus 2 --algo ring_simple --sizes 1K --mode eager --rounds 2 --replays 3 --ops 2 \
  --out "$folder/a"
expect "exit code of the run" 0 "$code"

run compare "$folder/a" "$folder/a" --csv "$folder/c.csv" --markdown "$folder/m.md" --fail-on-slower 1
expect "exit code of A against A" 0 "$code"
expect "rows of the CSV" "$(wc -l <"$folder/a/rows.csv")" "$(wc -l <"$folder/c.csv")"
grep -q '^warning: virtual ranks or host backend' "$folder/stdout" || fail "no warning of the host backend"
grep -q '^| verdict ' "$folder/m.md" || fail "no table in the markdown"
grep -q '^environment' "$folder/stdout" && fail "a run differs from itself"

# B is far slower than A.
mkdir "$folder/slow"
cp "$folder/a/rows.csv" "$folder/slow/"
"$python" - "$folder/a/samples.csv" "$folder/slow/samples.csv" <<'END'
import csv, sys
with open(sys.argv[1], newline="") as file, open(sys.argv[2], "w", newline="") as out:
    reader = csv.DictReader(file)
    writer = csv.DictWriter(out, reader.fieldnames, lineterminator="\n")
    writer.writeheader()
    for n, line in enumerate(reader):
        line["us"] = str(1e6 + n)
        writer.writerow(line)
END
run compare "$folder/a" "$folder/slow" --fail-on-slower 5
expect "exit code of a slower B" 3 "$code"
grep -q '^SLOWER ' "$folder/stdout" || fail "B is not SLOWER"
run compare "$folder/a" "$folder/slow"
expect "exit code without --fail-on-slower" 0 "$code"

# What others measured: Google Benchmark's own file of this run, and logs of nccl-tests.
run compare "$folder/a/google_benchmark.json" "$folder/a/google_benchmark.json"
expect "exit code of Google Benchmark" 0 "$code"
grep -q ' allreduce/ring_simple/bf16/g2/eager/hot/1024$' "$folder/stdout" ||
  fail "no row of Google Benchmark in $(<"$folder/stdout")"
for side in old new; do
  cat >"$folder/$side.txt" <<'END'
# nThread 1 nGpus 2 minBytes 8192 maxBytes 16384 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   4242 on      node1 device  0 [0x05] NVIDIA <RTX> PRO 6000
#  Rank  1 Group  0 Pid   4242 on      node1 device  1 [0x06] NVIDIA <RTX> PRO 6000
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        8192          2048     float     sum      -1    10.00    0.82    0.82      0    10.00    0.82    0.82      7
# Out of bounds values : 7 FAILED
# Avg bus bandwidth    : 0.82
#
END
done
sed -i 's/10\.00/12.50/; s/RTX/H200/' "$folder/new.txt"
run compare "$folder/old.txt" "$folder/new.txt" --html "$folder/page.html" --fail-on-slower 1
expect "exit code of nccl-tests" 0 "$code"
grep -q '^UNCLEAR  1.250  -  .* nccl_auto/f32/sum/g2/eager/out_of_place/8192$' "$folder/stdout" ||
  fail "no row of nccl-tests in $(<"$folder/stdout")"
grep -q 'in_place/8192 .* are wrong (7 wrong elements, line 10)' "$folder/stdout" || fail "a wrong row is not listed"
grep -qF 'NVIDIA &lt;H200&gt; PRO 6000' "$folder/page.html" || fail "no escaped text in the page"
run compare "$folder/old.txt" "$folder/a"
expect "exit code of two formats" 0 "$code"
grep -q '^format  *nccl-tests .* arbench ' "$folder/stdout" || fail "formats are not among the differences"

# Files that cannot be used.
head -n 10 "$folder/old.txt" | head -c -8 >"$folder/cut.txt"
head -c 700 "$folder/a/google_benchmark.json" >"$folder/cut.json"
: >"$folder/empty"
head -c 3000 "$ARBENCH" >"$folder/binary"
truncate -s 65M "$folder/huge"
refused "a cut log" "cut.txt: line 10 has no end: the file was cut" compare "$folder/old.txt" "$folder/cut.txt"
refused "a cut JSON file" "cut.json: is not JSON, or was cut" compare "$folder/cut.json" "$folder/old.txt"
refused "an empty file" "empty: is empty" compare "$folder/empty" "$folder/old.txt"
refused "a binary file" "binary: is binary, not text" compare "$folder/old.txt" "$folder/binary"
refused "a huge file" "huge: is larger than 64 MiB" compare "$folder/old.txt" "$folder/huge"
refused "no file" "null: is no file" compare "$folder/old.txt" /dev/null
refused "another JSON file" "run.json: is JSON, but neither" compare "$folder/old.txt" "$folder/a/run.json"
refused "a page that cannot be written" "--html /dev/null/x: cannot be written" \
  compare "$folder/a" "$folder/a" --html /dev/null/x
refused "a file that cannot be written" "--csv /dev/null/x: cannot be written" \
  compare "$folder/a" "$folder/a" --csv /dev/null/x
refused "one operand" "accepts two result sets" compare "$folder/a"
refused "three operands" "accepts two result sets" compare a b c
refused "no such folder" "does not exist" compare "$folder/a" "$folder/none"
refused "another command's option" "not used by compare" compare a b --rounds 3
refused "a bad percentage" "--fail-on-slower" compare a b --fail-on-slower x
refused "compare's option" "not used by run" --csv x
report
