# What the tests of the command line share; sourced. $folder is theirs and is removed at the end.
set -u
export LC_ALL=C
: "${ARBENCH:?needs the path of the program}"
python=$(command -v python3) || { echo "skipped: needs python3" && exit 77; }
folder=$(mktemp -d)
failures=0
group='' # of processes in the background, while there are any

finish() {
  [[ -z $group ]] || kill -KILL -- "-$group" 2>/dev/null
  rm -rf "$folder"
}
trap finish EXIT

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# Runs the program; leaves $code, and its output in $folder/stdout and $folder/stderr.
run() {
  code=0
  timeout 200 "$ARBENCH" "$@" >"$folder/stdout" 2>"$folder/stderr" || code=$?
}

# "$1: ... $2, not $3" unless the two are equal.
expect() { [[ $2 == "$3" ]] || fail "$1: expected '$2', found '$3'"; }

# The value of a Python expression over the result folder $1: `rows` of rows.csv, `samples` of
# samples.csv, `run` of run.json. Parsing is part of the test: every row has all columns.
results() {
  "$python" - "$@" <<'END'
import csv, json, os, sys
from collections import Counter

def table(name):
    with open(os.path.join(sys.argv[1], name), newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, strict=True)
    assert all(len(line) == len(header) for line in lines), name
    return [dict(zip(header, line)) for line in lines]

rows, samples = table("rows.csv"), table("samples.csv")
with open(os.path.join(sys.argv[1], "run.json"), encoding="utf-8") as file:
    run = json.load(file)
print(eval(sys.argv[2]))
END
}

# Waits until rows.csv of the result folder $1 has $2 rows, or for a minute.
await_rows() {
  local i
  for ((i = 0; i < 600; ++i)); do
    [[ -e $1/rows.csv ]] && (($(wc -l <"$1/rows.csv") > $2)) && return
    sleep 0.1
  done
  fail "no $2 rows within a minute"
}

# Ends the test with what was counted.
report() {
  ((failures == 0)) && exit 0
  echo "$failures checks failed"
  exit 1
}
