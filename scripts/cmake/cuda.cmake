# Finds a CUDA toolkit and NCCL's header. Sets
#   arbench_cuda          TRUE if the CUDA backend is built
#   arbench_code          what the binary will hold, as NVIDIA spells it: "sm_90;sm_120;compute_120"
#   arbench_nccl_include  the folder of nccl.h, or FALSE
#   arbench_compiler      the compilers in words
set(arbench_cuda FALSE)
set(arbench_code "")
set(arbench_nccl_include FALSE)
set(arbench_compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
set(oldest_toolkit 12.8) # the first that knows sm_120

if(NOT ARBENCH_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "ARBENCH_CUDA is '${ARBENCH_CUDA}': use AUTO, ON or OFF")
elseif(ARBENCH_SANITIZE AND ARBENCH_CUDA STREQUAL "ON")
  message(FATAL_ERROR "ARBENCH_SANITIZE is for the host backend: use ARBENCH_CUDA=OFF with it")
elseif(ARBENCH_SANITIZE OR ARBENCH_CUDA STREQUAL "OFF")
  message(STATUS "arbench: host backend only, as asked")
  return()
endif()

# A compiler that the user named is the only candidate; otherwise the first one that is new enough.
if(CMAKE_CUDA_COMPILER)
  set(candidates ${CMAKE_CUDA_COMPILER})
elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
  set(candidates $ENV{CUDACXX})
else()
  file(GLOB versioned /usr/local/cuda-*/bin/nvcc)
  list(SORT versioned COMPARE NATURAL ORDER DESCENDING)
  set(candidates nvcc /usr/local/cuda/bin/nvcc ${versioned})
endif()
list(JOIN candidates ", " tried)
set(why_not "no nvcc that runs (tried ${tried}); name one with -DCMAKE_CUDA_COMPILER=.../bin/nvcc")
foreach(candidate IN LISTS candidates)
  execute_process(COMMAND ${candidate} --version OUTPUT_VARIABLE text ERROR_QUIET
                  RESULT_VARIABLE failed)
  if(failed OR NOT text MATCHES "release ([0-9]+\\.[0-9]+)")
    continue()
  elseif(CMAKE_MATCH_1 VERSION_LESS oldest_toolkit)
    set(why_not "${candidate} is CUDA ${CMAKE_MATCH_1}, too old: ${oldest_toolkit} or later is needed")
  else()
    set(arbench_cuda TRUE)
    set(CMAKE_CUDA_COMPILER ${candidate})
    break()
  endif()
endforeach()
if(NOT arbench_cuda)
  if(ARBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "arbench: ARBENCH_CUDA=ON, but ${why_not}")
  endif()
  message(STATUS "arbench: host backend only: ${why_not}")
  return()
endif()

foreach(architecture IN LISTS ARBENCH_ARCHITECTURES)
  if(NOT architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
    message(FATAL_ERROR "ARBENCH_ARCHITECTURES holds '${architecture}': use forms like 120, 90-real")
  endif()
  if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
    list(APPEND arbench_code sm_${CMAKE_MATCH_1})
  endif()
  if(NOT CMAKE_MATCH_2 STREQUAL "-real")
    list(APPEND arbench_code compute_${CMAKE_MATCH_1})
  endif()
endforeach()
set(CMAKE_CUDA_ARCHITECTURES ${ARBENCH_ARCHITECTURES})
if(CMAKE_VERSION VERSION_LESS 3.26) # does not know that nvcc 12 and later speak C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit REQUIRED)
string(APPEND arbench_compiler ", nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
list(JOIN arbench_code ", " code)
message(STATUS "arbench: CUDA ${CUDAToolkit_VERSION} (${CMAKE_CUDA_COMPILER}) for ${code}")

# NCCL itself is opened at run time; only its header is needed. Its pip wheel brings one too.
find_program(python python3 NO_CACHE)
set(wheels "")
if(python)
  execute_process(
    COMMAND ${python} -c "import sys; print(*(p + '/nvidia/nccl/include' for p in sys.path if p), sep=';')"
    OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_path(ARBENCH_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS ${wheels}
          DOC "Folder of nccl.h")
if(ARBENCH_NCCL_INCLUDE)
  set(arbench_nccl_include ${ARBENCH_NCCL_INCLUDE})
else()
  message(STATUS "arbench: no nccl.h found, so nccl_auto, nccl_ring and nccl_tree are left out "
                 "(-DARBENCH_NCCL_INCLUDE=DIR names its folder)")
endif()
