# Siracusa: Debian's riscv64-unknown-elf-gcc with picolibc, or a PULP compiler; run by the maintained gvsoc.
#
#     cmake --preset siracusa
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf, and gvsoc to run anything (docs/siracusa.md).
# Options, each -DNAME=VALUE:
#     DORY_GVSOC_SIRACUSA_ROOT     where gvsoc with the target "siracusa" is installed (cmake/FindGvsocPulp.cmake)
#     DORY_PULP_TOOLCHAIN, DORY_PULP_ARCHITECTURE    as for GAP8 (gap8.cmake)
set(CMAKE_SYSTEM_PROCESSOR siracusa)
include(${CMAKE_CURRENT_LIST_DIR}/pulp_soc.cmake)
