# Siracusa: Debian's riscv64-unknown-elf-gcc with picolibc, or a PULP compiler; run by the maintained gvsoc.
#
#     cmake --preset siracusa
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf, and gvsoc to run anything (docs/siracusa.md).
# Options, each -DNAME=VALUE:
#     DORY_GVSOC_SIRACUSA_ROOT     where gvsoc with the target "siracusa" is installed (cmake/FindGvsocSiracusa.cmake)
#     DORY_PULP_TOOLCHAIN, DORY_PULP_ARCHITECTURE    as for GAP8 (gap8.cmake)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR siracusa)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DORY_GVSOC_SIRACUSA_ROOT)
set(DORY_TARGET siracusa CACHE STRING "Hardware to build for")

include(${CMAKE_CURRENT_LIST_DIR}/pulp.cmake)

# Tests and `cmake --build` run firmware through this. Text goes to the standard output, and main's result is gvsoc's.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/FindGvsocSiracusa.cmake)
if(GvsocSiracusa_FOUND)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DORY_GVSOC_SIRACUSA_COMMAND})
else()
  message(STATUS "gvsoc is missing: firmware is built, but its tests are skipped. See docs/siracusa.md")
endif()
