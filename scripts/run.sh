#!/usr/bin/env bash
# From a fresh checkout to a result: installs what is missing, builds, runs arbench.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/run.sh [--cuda PATH] [ARBENCH ARGUMENTS...]
Installs what is missing, builds arbench and runs it with the arguments given. Without any it runs
`arbench run --out out/DATE-TIME`: the default sweep, as a table here and as CSV and JSON there.
  --cuda PATH  toolkit folder to build with; must come first
Stdout and the exit code are arbench's. For its own help: scripts/run.sh run --help
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
toolkit=()
case ${1:-} in
  -h | --help) usage && exit 0 ;;
  --cuda) toolkit=(--cuda "${2:?--cuda needs a folder}") && shift 2 ;;
esac

"$root/scripts/setup.sh" "${toolkit[@]}" >&2 || echo "run: trying to build all the same" >&2
folder=$("$root/scripts/build.sh" "${toolkit[@]}" --target arbench)
if (($# == 0)); then
  out=$root/out/$(date +%Y-%m-%d-%H%M%S)
  mkdir -p "$root/out"
  echo "run: results go to $out" >&2
  set -- run --out "$out"
fi
exec "$folder/arbench" "$@"
