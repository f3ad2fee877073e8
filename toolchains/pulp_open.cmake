# PULP-open: Debian's riscv64-unknown-elf-gcc with picolibc, or a PULP compiler; run by the maintained gvsoc.
#
#     cmake --preset pulp_open
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf, and gvsoc to run anything (docs/siracusa.md).
# Options, each -DNAME=VALUE:
#     DORY_GVSOC_PULP_OPEN_ROOT     where gvsoc with the target "pulp-open" is installed (cmake/FindGvsocPulp.cmake)
#     DORY_PULP_TOOLCHAIN, DORY_PULP_ARCHITECTURE    as for GAP8 (gap8.cmake)
set(CMAKE_SYSTEM_PROCESSOR pulp_open)
include(${CMAKE_CURRENT_LIST_DIR}/pulp_soc.cmake)
