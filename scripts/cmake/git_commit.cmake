# Writes the header that names the commit being built; leaves the file alone when nothing changed.
#   cmake -D source=DIR -D header=FILE -P git_commit.cmake
cmake_minimum_required(VERSION 3.25)
set(commit "")
find_program(git git)
if(git AND EXISTS ${source}/.git)
  execute_process(COMMAND ${git} -C ${source} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${header} CONTENT "#define ARBENCH_GIT_COMMIT \"@commit@\"\n" @ONLY)
