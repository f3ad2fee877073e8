# What the toolchain files of chips share that the maintained gvsoc runs. CMAKE_SYSTEM_PROCESSOR is the chip.
set(CMAKE_SYSTEM_NAME Generic)
set(DORY_TARGET ${CMAKE_SYSTEM_PROCESSOR} CACHE STRING "Hardware to build for")

include(${CMAKE_CURRENT_LIST_DIR}/pulp.cmake)

# Tests and `cmake --build` run firmware through this. Text goes to the standard output, and main's result is gvsoc's.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/FindGvsocPulp.cmake)
if(GvsocPulp_FOUND)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DORY_GVSOC_PULP_COMMAND})
else()
  message(STATUS "gvsoc is missing: firmware is built, but its tests are skipped. See docs/siracusa.md")
endif()
