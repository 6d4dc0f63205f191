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

refused "a file that cannot be written" "--csv /dev/null/x: cannot be written" \
  compare "$folder/a" "$folder/a" --csv /dev/null/x
refused "one operand" "accepts two result sets" compare "$folder/a"
refused "three operands" "accepts two result sets" compare a b c
refused "no such folder" "does not exist" compare "$folder/a" "$folder/none"
refused "another command's option" "not used by compare" compare a b --rounds 3
refused "a bad percentage" "--fail-on-slower" compare a b --fail-on-slower x
refused "compare's option" "not used by run" --csv x
report
