# What dory's CMake functions ask of their arguments: what is misspelt, empty or absent stops CMake. Nothing that is not
# there may pass for something that was not asked for.
include_guard(GLOBAL)

# dory_require_arguments(WHERE NAMES ARGUMENT...) after cmake_parse_arguments with the prefix arg: no unknown argument, and
# each of NAMES, if it is given, has a value and is given once.
macro(dory_require_arguments where names)
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${where}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  _dory_require_values("${where}" "${names}" "${ARGN}")
endmacro()

function(_dory_require_values where names arguments)
  foreach(keyword IN LISTS names)
    set(given ${arguments})
    if(keyword IN_LIST given AND "${arg_${keyword}}" STREQUAL "")
      message(FATAL_ERROR "${where}: ${keyword} has no value; is a variable empty?")
    endif()
    list(FILTER given INCLUDE REGEX "^${keyword}$")
    list(LENGTH given count)
    if(count GREATER 1)
      message(FATAL_ERROR "${where}: ${keyword} is there ${count} times")
    endif()
  endforeach()
endfunction()

# dory_require_no_more(WHERE ARGUMENT...): of a function that takes no further arguments.
function(dory_require_no_more where)
  if(ARGN)
    message(FATAL_ERROR "${where}: unknown argument ${ARGN}")
  endif()
endfunction()

# dory_require_number(WHERE VALUE): a whole number above 0. dory_require_size: in bytes, or with k or M, which dory knows.
function(dory_require_number where value)
  if(NOT value MATCHES "^[1-9][0-9]*$" OR ARGN)
    message(FATAL_ERROR "${where} ${value} ${ARGN}: a whole number above 0 is expected")
  endif()
endfunction()

function(dory_require_size where value)
  string(REGEX REPLACE "[kKM]$" "" number "${value}")
  dory_require_number("${where}" "${number}" ${ARGN})
endfunction()

# dory_require_file(VARIABLE WHERE PATH): the absolute path, a relative one being of the current source folder, of a file
# or folder that exists, or that this build may make: it is an output of a command, or lies in the build folder.
function(dory_require_file variable where path)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  set(${variable} ${path} PARENT_SCOPE)
  get_source_file_property(is_made ${path} GENERATED)
  cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${path} NORMALIZE is_of_the_build)
  if(NOT EXISTS ${path} AND NOT is_made AND NOT is_of_the_build)
    message(FATAL_ERROR "${where} ${path} does not exist. Relative paths are of ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()
