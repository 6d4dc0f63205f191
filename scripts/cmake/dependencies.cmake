# The libraries of the distribution. Sets
#   arbench_dependencies  what the sources use
#   arbench_link_options  what the programs are linked with in addition
find_package(Threads REQUIRED)
find_package(benchmark REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(STATUS "arbench: GoogleTest not found, so the tests are not built")
endif()
set(arbench_link_options "")

if(ARBENCH_STATIC_DEPS)
  set(logging spdlog::spdlog_header_only)
  get_target_property(links ${logging} INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM links REPLACE "^fmt::fmt$" fmt::fmt-header-only) # where spdlog brings no fmt of its own
  set_target_properties(${logging} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
  find_library(ARBENCH_BENCHMARK_ARCHIVE libbenchmark.a DOC "Google Benchmark as a static library")
  mark_as_advanced(ARBENCH_BENCHMARK_ARCHIVE)
  if(ARBENCH_BENCHMARK_ARCHIVE)
    set_target_properties(benchmark::benchmark PROPERTIES IMPORTED_CONFIGURATIONS STATIC
                          IMPORTED_LOCATION_STATIC ${ARBENCH_BENCHMARK_ARCHIVE})
    set(CMAKE_SKIP_BUILD_RPATH ON)
    # The C++ runtime in the program must not stand in for the one that libnccl was built with.
    set(arbench_link_options -static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL)
  else()
    # Debian has it as a shared library only. That one uses libstdc++.so, so the program has to too.
    get_target_property(file benchmark::benchmark LOCATION)
    get_filename_component(folder ${file} DIRECTORY)
    file(GLOB shared ${folder}/libbenchmark.so.*)
    file(COPY ${shared} DESTINATION ${PROJECT_BINARY_DIR})
    set(CMAKE_BUILD_RPATH "$ORIGIN")
    message(STATUS "arbench: no libbenchmark.a, so libbenchmark.so.1* must travel beside the programs")
  endif()
else()
  set(logging spdlog::spdlog)
endif()

set(arbench_dependencies benchmark::benchmark CLI11::CLI11 ${logging} nlohmann_json::nlohmann_json
    Threads::Threads ${CMAKE_DL_LIBS})
