# The commit that this tree is at, for `dory --version`: " (commit 0123456789ab)", or nothing where the tree is no clone of its
# own, as in an archive. CMake looks again when HEAD has moved.
find_package(Git QUIET)

function(_dory_git variable)
  set(${variable} "" PARENT_SCOPE)
  if(Git_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE answer ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(${variable} "${answer}" PARENT_SCOPE)
  endif()
endfunction()

_dory_git(top rev-parse --show-toplevel)
_dory_git(commit rev-parse --short=12 HEAD)
_dory_git(log rev-parse --git-path logs/HEAD)
file(REAL_PATH "${PROJECT_SOURCE_DIR}" here)
set(dory_commit "")
if(commit AND top STREQUAL here)
  set(dory_commit " (commit ${commit})")
  cmake_path(ABSOLUTE_PATH log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(EXISTS ${log})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
  endif()
endif()
set_source_files_properties(command/commands.c PROPERTIES COMPILE_DEFINITIONS "DORY_COMMIT=\"${dory_commit}\"")
