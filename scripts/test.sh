#!/usr/bin/env bash
# Builds and tests: first all there is, then the host backend under ThreadSanitizer.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/test.sh [--quick] [--cuda PATH] [--arch LIST]
Installs what is missing, builds, and runs all tests; those that need a GPU skip themselves without
one. Then the tests of the host backend once more under ThreadSanitizer.
  --quick      without ThreadSanitizer
  --cuda PATH  toolkit folder to build with
  --arch LIST  GPU code to build, as for build.sh
The last line is "N passed, N failed, N skipped"; the exit code is 0 if none failed.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
quick=no toolkit=() build=()
while (($#)); do
  case $1 in
    --quick) quick=yes ;;
    --cuda) toolkit=(--cuda "${2:?--cuda needs a folder}") && shift ;;
    --arch) build=(--arch "${2:?--arch needs a list}") && shift ;;
    -h | --help) usage && exit 0 ;;
    *) echo "test: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done

passed=0 failed=0 skipped=0

# The number that ctest's JUnit file $1 has for attribute $2.
count() { grep -om1 "\b$2=\"[0-9]*\"" "$1" | grep -o '[0-9]*'; }

# Tests build folder $1 by the command that follows, `ctest` with its own options, and adds to the sums.
run_tests() {
  local folder=$1 xml=$1/ctest.xml status=0 bad=0 skip
  shift
  rm -f "$xml"
  "$@" --test-dir "$folder" --output-junit "$xml" --output-on-failure --no-tests=error \
    --parallel "$(nproc)" || status=$?
  if [[ -e $xml ]]; then
    bad=$(count "$xml" failures)
    skip=$(($(count "$xml" skipped) + $(count "$xml" disabled)))
    passed=$((passed + $(count "$xml" tests) - bad - skip))
    skipped=$((skipped + skip))
  fi
  # A test program that is missing or lists no tests is a failure that the file does not count.
  ((status == 0 || bad > 0)) || bad=1
  failed=$((failed + bad))
}

"$root/scripts/setup.sh" --plots "${toolkit[@]}" >&2 || echo "test: trying to build all the same" >&2
folder=$("$root/scripts/build.sh" "${toolkit[@]}" "${build[@]}")
run_tests "$folder" ctest
if [[ $quick == no ]]; then
  folder=$("$root/scripts/build.sh" --preset tsan)
  # ThreadSanitizer of gcc 13 and before cannot start where the kernel randomises addresses widely.
  fixed=(setarch "$(uname -m)" -R)
  "${fixed[@]}" true 2>/dev/null || fixed=()
  run_tests "$folder" "${fixed[@]}" ctest -LE script
fi
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
