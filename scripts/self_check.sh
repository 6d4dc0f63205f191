#!/usr/bin/env bash
# The program against itself: whether it finds no difference where there is none, and finds one that is known.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/self_check.sh BUILD OUT [PART...] [-- OPTIONS]
Runs the arbench in the folder BUILD three times as A, three times as B and three times slowed, in the
order A B S S B A A B S, each into a folder OUT/a/launch-1 and so on. With the same folder again, it
keeps the launches that are whole.
  same   A and B are the same program: `arbench compare` must call 95 of 100 rows SAME
  slow   each sample of S holds 3 % more ops than are counted (--slow): 95 of 100 rows must be SLOWER
  plain  scripts/plain_loop.py: bench/plain_loop.cpp, an independent and much simpler loop, must agree
         within 2 % on every row; needs a build with CUDA
  -- OPTIONS  of arbench run, in place of: -b 1K -e 4M --gpus 2,4 --row-seconds 0.1
              --algo one_shot_pull,one_shot_push,two_shot_pull,ring_simple (104 rows)
Without PART all of them run, in about 8 minutes on one GPU. A row that has no verdict counts as not
found. Exit code 0 if all is as it must be, 1 if not, 2 for a wrong call.
TEXT
}

say() { echo "self_check: $*" >&2; }
refuse() { say "$@" && usage >&2 && exit 2; }
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build='' out='' parts=() sweep=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --) shift && sweep=("$@") && break ;;
    -*) refuse "unknown argument '$1'" ;;
    *)
      if [[ -z $build ]]; then build=$1; elif [[ -z $out ]]; then out=$1; else parts+=("$1"); fi
      ;;
  esac
  shift
done
[[ -n $out ]] || refuse "needs a build folder and a folder for the results"
for part in "${parts[@]}"; do
  [[ $part =~ ^(same|slow|plain)$ ]] || refuse "unknown part '$part'; accepts same, slow, plain"
done
((${#parts[@]})) || parts=(same slow plain)
((${#sweep[@]})) || sweep=(-b 1K -e 4M --gpus 2,4 --row-seconds 0.1
  --algo "one_shot_pull,one_shot_push,two_shot_pull,ring_simple")
[[ -x $build/arbench ]] || refuse "no arbench in '$build'"

# 3 % of 100 ops are whole ops. Both sides have as many, in graphs alone.
common=(--mode graph --ops 100)
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }

# launch SIDE NUMBER OPTIONS...
launch() {
  local folder=$out/$1/launch-$2 code=0
  [[ ! -e $folder/whole ]] || return 0
  rm -rf "$folder" && mkdir -p "$out/$1"
  say "$1, launch $2"
  "$build/arbench" run "${sweep[@]}" "${common[@]}" "${@:3}" --out "$folder" >"$out/$1/launch-$2.txt" || code=$?
  echo "exit code $code" >>"$out/$1/launch-$2.txt"
  ((code != 2 && code != 130)) || exit "$code"
  [[ -e $folder/rows.csv ]] || { say "no rows: see $out/$1/launch-$2.txt" && exit 1; }
  touch "$folder/whole"
}

# verdicts SIDE WORD TEXT: how many rows of A against SIDE have this verdict; false below 95 of 100.
verdicts() {
  local csv=$out/a-$1.csv all found
  "$build/arbench" compare "$out/a" "$out/$1" --csv "$csv" >"$out/a-$1.txt" || exit 2
  all=$(($(wc -l <"$csv") - 1))
  found=$(grep -c "^$2," "$csv" || true)
  echo "$3: $found of $all rows $2 (at least 95 of 100)"
  ((all > 0 && 100 * found >= 95 * all))
}

mkdir -p "$out"
for step in a:1 b:1 s:1 s:2 b:2 a:2 a:3 b:3 s:3; do
  case ${step%:*} in
    a) { wants same || wants slow; } && launch a "${step#*:}" ;;
    b) wants same && launch b "${step#*:}" ;;
    s) wants slow && launch slow "${step#*:}" --slow '*:3' ;;
  esac || true
done
worst=0
for part in "${parts[@]}"; do
  case $part in
    same) verdicts b SAME "the same program twice" || worst=1 ;;
    slow) verdicts slow SLOWER "slowed by 3 %" || worst=1 ;;
    plain)
      if [[ ! -x $build/arbench_plain_loop ]]; then
        echo "plain loop: not run, '$build' has no arbench_plain_loop (a build with CUDA has)"
        worst=1
      else
        "$scripts/plain_loop.py" "$build" >"$out/plain.txt" || worst=1
        echo "plain loop: $(tail -n 1 "$out/plain.txt")"
      fi
      ;;
  esac
done
exit "$worst"
