# Writes a C++ file that holds the text of kernels/*.cu and include/arbench/*.hpp.
#   cmake -D source=DIR -D output=FILE -P embed_sources.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB files RELATIVE ${source}/include ${source}/include/arbench/*.hpp)
file(GLOB kernels RELATIVE ${source} ${source}/kernels/*.cu)
set(text "// Made from the kernels and their headers: see scripts/cmake/embed_sources.cmake.
#include \"kernel_sources.hpp\"

std::vector<arbench::KernelSource> arbench::kernel_sources() {
  return {
")
foreach(file IN LISTS files kernels)
  if(EXISTS ${source}/include/${file})
    file(READ ${source}/include/${file} content)
  else()
    file(READ ${source}/${file} content)
  endif()
  string(APPEND text "{\"${file}\", R\"arbench_source(${content})arbench_source\"},\n")
endforeach()
file(WRITE ${output} "${text}  };\n}\n")
