#!/usr/bin/env bash
# Installs what arbench is built with.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/setup.sh [--plots] [--cuda PATH]
Installs by apt-get what is missing on Debian 12 or Ubuntu 24.04: compiler, CMake, Ninja and the
libraries. Does nothing, quickly, when all is there. Never installs a CUDA toolkit.
  --plots      matplotlib too, for the plots; goes on without it when it cannot be had
  --cuda PATH  the toolkit that will be used, so that none is missed
END
}

say() { printf 'setup: %s\n' "$*" >&2; }

plots=no cuda=
while (($#)); do
  case $1 in
    --plots) plots=yes ;;
    --cuda) cuda=${2:?--cuda needs a folder} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) say "unknown argument '$1'" && usage >&2 && exit 2 ;;
  esac
  shift
done

# Prints the packages that are not installed. A tool counts as installed wherever it comes from.
missing() {
  local libraries=(libbenchmark-dev libgtest-dev libcli11-dev libspdlog-dev nlohmann-json3-dev)
  local installed tool package
  for tool in g++:g++ cmake:cmake ninja:ninja-build git:git python3:python3; do
    command -v "${tool%%:*}" >/dev/null || echo "${tool#*:}"
  done
  # shellcheck disable=SC2016  # dpkg-query's own variables
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${libraries[@]}" 2>/dev/null || true)
  for package in "${libraries[@]}"; do
    grep -qx "installed $package" <<<"$installed" || echo "$package"
  done
}

# Installs the packages named, after a fresh package list where the present one does not do.
install() {
  local sudo=() apt log
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "not root and no sudo here; as root: apt-get install $*"
      return 1
    fi
    sudo=(sudo)
    [[ -t 0 ]] || sudo=(sudo -n)
  fi
  apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  log=$(mktemp)
  say "installing $*"
  if ! "${apt[@]}" install --no-install-recommends "$@" -y >"$log" 2>&1 &&
    ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@" -y; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    say "apt-get failed; needed: $*"
    return 1
  fi
  rm -f "$log"
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  say "no apt-get here, so nothing was checked. Needed: g++ 12, CMake 3.25, Google Benchmark," \
    "GoogleTest, CLI11, spdlog, nlohmann-json, Python 3"
else
  mapfile -t packages < <(missing)
  ((${#packages[@]} == 0)) || install "${packages[@]}"
  if [[ $plots == yes ]] && ! python3 -c 'import matplotlib' 2>/dev/null &&
    ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    install python3-matplotlib || say "going on without matplotlib: no plots"
  fi
fi

toolkits=(/usr/local/cuda*/bin/nvcc)
if [[ -z $cuda && -z ${CUDACXX:-} && ! -x ${toolkits[0]} ]] && ! command -v nvcc >/dev/null; then
  say "no CUDA toolkit: 12.8 or later is at https://developer.nvidia.com/cuda-downloads"
fi
