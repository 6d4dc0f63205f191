#!/usr/bin/env bash
# Two builds of arbench, launched in turn with the same cases, and what `arbench compare` says of them.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/compare_builds.sh [options] A B [-- RUN OPTIONS]
A and B are build folders, such as build/cuda-12.8 and build/cuda-13.0 of scripts/build_matrix.sh, or
paths of arbench programs. They are launched in the order A B B A A B ..., each launch into a folder
of its own, OUT/a1, OUT/b1, OUT/b2, ... with its table beside it, OUT/a1.txt. Launch number i of either
has --seed i. Then all launches of A are compared with all of B: as text here, and in
OUT/compare.csv and OUT/compare.md. A cut call goes on when it is made again, with --out OUT.
  --launches N          of each, 3 or more (default 3); may be more when a call goes on
  --out OUT             where all goes (default: out/DATE-TIME, beside the sources)
  --nccl-a LIB          NCCL library of A (default for both: the one that A finds by itself)
  --nccl-b LIB          NCCL library of B
  --allow-mixed         also builds of different commits, or of files that differ from a commit
  --fail-on-slower PCT  as of arbench compare
  -- RUN OPTIONS        of arbench run; the sweep's, such as --sizes 56K --gpus 2,8
Exit codes: 0 all ok, 2 usage, 3 a slower row (--fail-on-slower), 4, 7 or 8 some rows of a launch
hung, were wrong or failed otherwise (all launches are made all the same), 130 interrupted; any other
is of a launch or comparison that ended so.
END
}

say() { echo "compare_builds: $*" >&2; }
refuse() { say "$*" && exit 2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
launches=3 out='' nccl_a='' nccl_b='' mixed=no slower=() builds=() sweep=()
while (($#)); do
  case $1 in
    --launches | --out | --nccl-a | --nccl-b | --fail-on-slower)
      [[ -n ${2:-} ]] || refuse "$1 needs a value; see --help"
      case $1 in
        --launches) launches=$2 ;;
        --out) out=$2 ;;
        --nccl-a) nccl_a=$2 ;;
        --nccl-b) nccl_b=$2 ;;
        --fail-on-slower) slower=("$1" "$2") ;;
      esac
      shift
      ;;
    --allow-mixed) mixed=yes ;;
    --) shift && sweep=("$@") && break ;;
    -h | --help) usage && exit 0 ;;
    -*) refuse "unknown option '$1'; accepts --launches, --out, --nccl-a, --nccl-b, --allow-mixed, \
--fail-on-slower, and options of arbench run behind --" ;;
    *) builds+=("$1") ;;
  esac
  shift
done
((${#builds[@]} == 2)) || refuse "accepts two builds, A and B, not ${#builds[@]}"
[[ $launches =~ ^([3-9]|[1-9][0-9])$ ]] || refuse "--launches $launches: accepts a number from 3 to 99"
if ((${#slower[@]})) && [[ ! ${slower[1]} =~ ^(1000|[0-9]{1,3}(\.[0-9]+)?)$ ]]; then
  refuse "--fail-on-slower ${slower[1]}: accepts a percentage from 0 to 1000"
fi
for option in "${sweep[@]}"; do
  case ${option%%=*} in
    --seed | --out | --resume | --nccl-lib | --dry-run | --list)
      refuse "${option%%=*} behind --: not accepted there; each launch has its own seed and folder, \
and --nccl-a and --nccl-b name libraries" ;;
  esac
done

# The absolute path of the program of build $1.
program_of() {
  local program=$1
  [[ ! -d $program ]] || program=$program/arbench
  [[ -f $program && -x $program ]] || refuse "'$1' is no build: accepts a folder with an arbench in it, or an arbench"
  realpath -- "$program"
}

# "1a2b3c4-dirty+cuda12.8+Release"
version_of() {
  local version
  version=$("$1" --version 2>/dev/null || true)
  [[ $version == "arbench "* ]] || refuse "$1 does not answer to --version as arbench does"
  echo "${version#arbench }"
}

# One a line: each ends the script if it is refused.
a=$(program_of "${builds[0]}")
b=$(program_of "${builds[1]}")
version_a=$(version_of "$a")
version_b=$(version_of "$b")
if [[ $mixed == no ]]; then
  commit_a=${version_a%%+*} commit_b=${version_b%%+*} remedy='build both from one commit, or say --allow-mixed'
  [[ $commit_a == "$commit_b" ]] || refuse "A is of commit $commit_a, B of $commit_b: $remedy"
  [[ $commit_a != *-dirty ]] || refuse "the builds hold changes that are not in commit ${commit_a%-dirty}: $remedy"
fi
# A wrong option is told before anything is written.
for program in "$a" "$b"; do
  "$program" run --dry-run "${sweep[@]}" >/dev/null || exit
done
if [[ -z $nccl_a || -z $nccl_b ]]; then
  nccl=$("$a" doctor | sed -n 's|^  NCCL library  *[0-9.]*  */|/|p')
  : "${nccl_a:=$nccl}" "${nccl_b:=$nccl}"
fi
for library in "$nccl_a" "$nccl_b"; do
  [[ -z $library || -f $library ]] || refuse "'$library' is no NCCL library: --nccl-a and --nccl-b accept the path of one"
done

# What must stay the same when a call goes on, one "name: value" a line.
plan() {
  local sum='s/^\([0-9a-f]*\).*/\1/'
  echo "A: $version_a $(sha256sum <"$a" | sed "$sum")"
  echo "B: $version_b $(sha256sum <"$b" | sed "$sum")"
  echo "NCCL of A: ${nccl_a:+$(realpath -- "$nccl_a")}"
  echo "NCCL of B: ${nccl_b:+$(realpath -- "$nccl_b")}"
  echo "run options: ${sweep[*]}"
}

# Refuses the folder of another comparison than plan $1, naming what differs.
require_same_plan() {
  local was now i
  mapfile -t was <"$out/plan.txt"
  mapfile -t now <<<"$1"
  for i in "${!now[@]}"; do
    [[ ${now[i]} == "${was[i]:-}" ]] ||
      refuse "--out $out is of another comparison: ${now[i]%%:*} was '${was[i]#*: }' there, is '${now[i]#*: }' now"
  done
}

plan=$(plan)
: "${out:=$root/out/$(date +%Y-%m-%d-%H%M%S)}"
mkdir -p -- "$out" 2>/dev/null || true
[[ -d $out && -w $out ]] || refuse "--out $out: cannot be written; accepts a folder"
# Launches inherit the lock, so that one which outlived a killed script keeps it.
exec {lock}<"$out"
flock -n "$lock" || refuse "--out $out is in use: wait for the launch that runs there, or end it"
if [[ -e $out/plan.txt ]]; then
  require_same_plan "$plan"
elif [[ -n $(ls -A -- "$out") ]]; then
  refuse "--out $out holds other files: accepts an empty folder, a new one, or that of a cut comparison"
else
  echo "$plan" >"$out/plan.txt"
fi
say "results go to $out"

worst=0 failed=() child='' made=0
# note CODE: for the exit code of this script.
note() { (($1 <= worst)) || worst=$1; }

# An interrupted launch ends as it does by itself: its finished rows are kept.
stop() {
  trap '' INT TERM
  [[ -z $child ]] || { kill -TERM "$child" 2>/dev/null || true; wait "$child" || true; }
  say "interrupted; the same call with --out $out goes on"
  exit 130
}
trap stop INT TERM

# run_once NAME PROGRAM LIBRARY SEED: into $code; "exit code N" at the end of NAME.txt says that the launch was whole.
run_once() {
  local folder=$out/$1 options=("${sweep[@]}" --seed "$4")
  [[ -z $3 ]] || options+=(--nccl-lib "$3")
  if [[ -e $folder/run.json ]]; then
    options+=(--resume "$folder")
  else
    rm -rf -- "$folder" # what has no run.json has no rows
    options+=(--out "$folder")
  fi
  echo "$ $2 run ${options[*]}" >"$folder.txt"
  "$2" run "${options[@]}" >>"$folder.txt" &
  child=$!
  code=0
  wait "$child" || code=$?
  child=''
}

# launch NAME PROGRAM LIBRARY SEED: unless it was made already.
launch() {
  ((++made))
  code=$(sed -n '$s/^exit code //p' "$out/$1.txt" 2>/dev/null || true)
  if [[ -z $code ]]; then
    say "$1, launch $made of $((2 * launches))"
    run_once "$@"
    case $code in
      0 | 4 | 7 | 8) echo "exit code $code" >>"$out/$1.txt" ;;
      *) say "stopped at $1, whose exit code is $code; what is finished is kept" && exit "$code" ;;
    esac
  fi
  ((code == 0)) || failed+=("$1 (exit code $code)")
  note "$code"
}

all_a='' all_b=''
for ((i = 1; i <= launches; ++i)); do
  pair=(a b)
  ((i % 2)) || pair=(b a)
  for side in "${pair[@]}"; do
    if [[ $side == a ]]; then launch "a$i" "$a" "$nccl_a" "$i"; else launch "b$i" "$b" "$nccl_b" "$i"; fi
  done
  all_a+=,a$i all_b+=,b$i
done

cd -- "$out"
code=0
"$b" compare "${all_a#,}" "${all_b#,}" --csv compare.csv --markdown compare.md "${slower[@]}" || code=$?
note "$code"
((${#failed[@]} == 0)) || say "some rows failed in: $(printf '%s, ' "${failed[@]}" | sed 's/, $//')"
exit "$worst"
