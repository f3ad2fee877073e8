# GAP8: Debian's riscv64-unknown-elf-gcc with picolibc, or a PULP compiler; run by gvsoc.
#
#     cmake --preset gap8
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf, and gvsoc to run anything.
# Options, each -DNAME=VALUE:
#     DORY_GVSOC_ROOT              where gvsoc is installed, if its launcher is not on the PATH (cmake/FindGvsoc.cmake)
#     DORY_GVSOC_AXI_BYTES         bytes a cycle of its AXI routers: 8 (the chip's, default) or 4 (gvsoc's own default)
#     DORY_GVSOC_CACHES            its instruction caches: chip (the chip's, default) or gvsoc (a quarter, its own default)
#     DORY_PULP_TOOLCHAIN          path of a riscv32-unknown-elf-gcc that knows the PULP instructions
#     DORY_PULP_ARCHITECTURE       its -march: rv32imcxpulpv2 (default) or rv32imcxgap8
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR gap8)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DORY_GVSOC_ROOT)
set(DORY_TARGET gap8 CACHE STRING "Hardware to build for")

include(${CMAKE_CURRENT_LIST_DIR}/pulp.cmake)

# Tests and `cmake --build` run firmware through this. Text goes to the standard output, and main's result is gvsoc's.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/FindGvsoc.cmake)
if(Gvsoc_FOUND)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${DORY_GVSOC_COMMAND})
else()
  message(STATUS "gvsoc is missing: firmware is built, but its tests are skipped. See docs/gap8.md")
endif()
