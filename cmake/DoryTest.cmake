include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/DoryArguments.cmake)

# Why firmware cannot be run here.
function(_dory_no_emulator variable)
  set(missing_virt "qemu-system-riscv32 was not found (on Debian: apt install qemu-system-misc)")
  set(missing_cortexm "qemu-system-arm was not found (on Debian: apt install qemu-system-arm)")
  set(missing_gap8 "gvsoc was not found: configure with -DDORY_GVSOC_ROOT=DIR, see docs/gap8.md")
  foreach(chip IN LISTS DORY_PULP_SOC_CHIPS)
    string(TOUPPER "DORY_GVSOC_${chip}_ROOT" root)
    set(missing_${chip} "the maintained gvsoc was not found: configure with -D${root}=DIR, see docs/siracusa.md")
  endforeach()
  set(reason "no emulator for ${DORY_TARGET} is installed")
  if(DEFINED missing_${DORY_TARGET})
    set(reason ${missing_${DORY_TARGET}})
  endif()
  set(${variable} "skipped: ${reason}" PARENT_SCOPE)
endfunction()

# Without enable_testing() add_test does nothing, and ctest finds no test and ends well.
function(_dory_expect_testing name)
  if(NOT CMAKE_TESTING_ENABLED)
    message(WARNING "dory: ctest will not run the test ${name}: enable_testing() is not called in "
                    "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt or above it")
  endif()
endfunction()

# dory_add_firmware_test(NAME TARGET [LABELS label...] [TIMEOUT seconds] [ARGUMENTS argument...])
#
# A test that runs a program of this build: directly on the host, else under the emulator that the toolchain file found.
# Without an emulator the program is built all the same, and ctest reports the test as skipped. A program that returns
# 77 is reported as skipped, too. The label DORY_TARGET (host, virt, gap8, siracusa, pulp_open, cortexm) is always set.
function(dory_add_firmware_test name target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "LABELS;ARGUMENTS")
  dory_require_arguments("dory_add_firmware_test(${name})" "TIMEOUT" ${ARGN})
  if(NOT DEFINED arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  dory_require_number("dory_add_firmware_test(${name}): TIMEOUT" ${arg_TIMEOUT})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _dory_expect_testing [[${name}]])") # it may be called further down
  set(slower_gap8 4) # gvsoc needs a minute or two for what takes others a second, and more beside other work
  set(slower_pulp_open 4)
  set(slower_siracusa 12) # its model of N-EUREKA more still
  if(DEFINED slower_${DORY_TARGET})
    math(EXPR arg_TIMEOUT "${slower_${DORY_TARGET}} * ${arg_TIMEOUT}")
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    _dory_no_emulator(reason)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "${reason}; not run:" $<TARGET_FILE:${target}>) # which must exist
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  else()
    add_test(NAME ${name} COMMAND ${target} ${arg_ARGUMENTS}) # CMake puts the emulator before it
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  list(APPEND arg_LABELS ${DORY_TARGET})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# dory_add_run_target(NAME TARGET): `cmake --build . --target NAME` runs a program of this build and shows what it
# prints, on the host or under the emulator.
function(dory_add_run_target name target)
  dory_require_no_more("dory_add_run_target(${name})" ${ARGN})
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    _dory_no_emulator(reason)
    set(command ${CMAKE_COMMAND} -E echo "${reason}")
  elseif(CMAKE_CROSSCOMPILING)
    set(command ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}>)
  else()
    set(command $<TARGET_FILE:${target}>)
  endif()
  add_custom_target(${name} COMMAND ${command} DEPENDS ${target} USES_TERMINAL VERBATIM)
endfunction()

# dory_add_skipped_test(NAME REASON): a test that cannot run here; ctest reports it as skipped, never as passed.
function(dory_add_skipped_test name reason)
  dory_require_no_more("dory_add_skipped_test(${name})" ${ARGN})
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: " LABELS ${DORY_TARGET})
endfunction()
