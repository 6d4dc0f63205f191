#!/usr/bin/env bash
# The host's part of the CUDA backend must compile against the headers of each toolkit that
# $ARBENCH_NVRTC lists, by colons. Only files that include a header of CUDA are compiled.
set -euo pipefail

if [[ -z ${ARBENCH_NVRTC:-} ]]; then
  echo "skipped: ARBENCH_NVRTC names no toolkit"
  exit 77
fi
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$ARBENCH_BUILD/CMakeCache.txt")
nccl=$(sed -n 's/^ARBENCH_NCCL_INCLUDE:PATH=//p' "$ARBENCH_BUILD/CMakeCache.txt")
mapfile -t sources < <(grep -l '#include <cuda' src/*.cpp bench/*.cpp)
options=(-std=c++20 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Isrc -DARBENCH_CUDA)
if [[ -e $nccl/nccl.h ]]; then
  sources+=(kernels/host_driven/*.cpp)
  options+=(-DARBENCH_NCCL -isystem "$nccl")
else
  echo "without kernels/host_driven: this build has no nccl.h"
fi
IFS=: read -ra toolkits <<<"$ARBENCH_NVRTC"
for toolkit in "${toolkits[@]}"; do
  [[ -e $toolkit/include/cuda_runtime.h ]] || { echo "no cuda_runtime.h in $toolkit/include" && exit 1; }
  for source in "${sources[@]}"; do
    echo "$source against $toolkit"
    "$compiler" "${options[@]}" -isystem "$toolkit/include" "$source"
  done
done
