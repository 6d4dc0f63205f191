#!/usr/bin/env bash
# scripts/build_matrix.sh and fetch_toolkit.sh refuse what they cannot use, before they build or fetch; and
# built_code.py tells two programs apart by what a cuobjdump says.
. "$(dirname "$0")/cli.sh"
scripts=$(cd "$(dirname "$0")/../scripts" && pwd)

# call SCRIPT OPTIONS...: as run() does for the program itself.
call() {
  code=0
  timeout 60 "$@" >"$folder/stdout" 2>"$folder/stderr" || code=$?
}

test_unknown_toolkit() {
  call "$scripts/build_matrix.sh" --allow-dirty --prefix "$folder/none" 99.1
  expect "exit code" 2 "$code"
  expect "stderr" "build_matrix: no toolkit with an nvcc is '99.1', /usr/local/cuda-99.1 or \
$folder/none/cuda-99.1; scripts/fetch_toolkit.sh gets one from 13.0 on" "$(<"$folder/stderr")"
  call "$scripts/build_matrix.sh"
  expect "exit code without a toolkit" 2 "$code"
}

test_fetch_refuses() {
  local bad
  for bad in 12.6 13 latest 13.0.1; do
    call "$scripts/fetch_toolkit.sh" "$bad" "$folder/toolkits"
    expect "exit code for $bad" 2 "$code"
    expect "stderr for $bad" "fetch_toolkit: VERSION is '$bad'; accepts major.minor from 12.8 on, \
such as 13.0" "$(<"$folder/stderr")"
  done
  [[ ! -e $folder/toolkits ]] || fail "a refused call left files"
  mkdir -p "$folder/toolkits/cuda-13.0"
  call "$scripts/fetch_toolkit.sh" 13.0 "$folder/toolkits"
  expect "exit code when it is there" 0 "$code"
  expect "the folder that is there" "$folder/toolkits/cuda-13.0" "$(<"$folder/stdout")"
}

# Two builds, of which the second spends more registers on sm_120.
test_built_code() {
  local build
  for build in cuda-1 cuda-2; do
    mkdir -p "$folder/$build/bin"
    printf '#!/bin/sh\necho "nvcc of %s"\n' "$build" >"$folder/$build/bin/nvcc"
    cp "$folder/$build/bin/nvcc" "$folder/$build/bin/ptxas"
    chmod +x "$folder/$build/bin/"*
    printf '%s\n' "CMAKE_CUDA_COMPILER:FILEPATH=$folder/$build/bin/nvcc" "CMAKE_CXX_COMPILER:X=$(command -v c++)" \
      CMAKE_BUILD_TYPE:STRING=Release "ARBENCH_ARCHITECTURES:STRING=90-real;120" >"$folder/$build/CMakeCache.txt"
  done
  cat >"$folder/cuobjdump" <<'END'
#!/bin/sh
case $1 in
  -lelf) echo "ELF file    1: arbench.1.sm_90.cubin" && echo "ELF file    2: arbench.2.sm_120.cubin" ;;
  -lptx) echo "PTX file    1: arbench.1.sm_120.ptx" ;;
  *)
    case $2 in *cuda-1*) registers=40 ;; *) registers=48 ;; esac
    for arch in sm_90 sm_120; do
      echo "arch = $arch"
      echo " Function _ZN7arbench9port_cuda12kernel_entryIiEEvT_:"
      [ $arch = sm_90 ] && echo "  REG:32 STACK:0 SHARED:0 LOCAL:0" || echo "  REG:$registers STACK:8 SHARED:16 LOCAL:0"
    done ;;
esac
END
  chmod +x "$folder/cuobjdump"
  call python3 -B "$scripts/built_code.py" "$folder/cuobjdump" "$folder/cuda-1/arbench" "$folder/cuda-2/arbench"
  expect "exit code" 0 "$code"
  expect "table" "2 kernels, 1 with other resources from one build to another (registers / stack \
bytes, for spills too / shared bytes):
  architecture  kernel  cuda-1   cuda-2
  sm_120        int     40/8/16  48/8/16" "$(tail -n 3 "$folder/stdout")"
  expect "code of the second" "  cubins         1 sm_120, 1 sm_90
  PTX            1 sm_120" "$(grep -A1 cubins "$folder/stdout" | tail -n 2)"
  expect "nvcc of the second" "  nvcc           nvcc of cuda-2" "$(grep "^  nvcc" "$folder/stdout" | tail -n 1)"
}

test_unknown_toolkit
test_fetch_refuses
test_built_code
report
