# The compiler of chips of the PULP family, for their toolchain files: Debian's riscv64-unknown-elf-gcc with picolibc, or one that
# DORY_PULP_TOOLCHAIN names.
include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DORY_PULP_TOOLCHAIN DORY_PULP_ARCHITECTURE)
set(DORY_PULP_TOOLCHAIN "" CACHE FILEPATH "riscv32-unknown-elf-gcc with PULP instructions; empty: Debian's riscv64 one")
set(DORY_PULP_ARCHITECTURE rv32imcxpulpv2 CACHE STRING "-march for DORY_PULP_TOOLCHAIN")

if(DORY_PULP_TOOLCHAIN)
  set(DORY_PULP_GCC ${DORY_PULP_TOOLCHAIN})
  set(DORY_PULP_MACHINE "-march=${DORY_PULP_ARCHITECTURE}")
else()
  if(NOT DORY_PULP_ARCHITECTURE STREQUAL rv32imcxpulpv2)
    message(FATAL_ERROR "DORY_PULP_ARCHITECTURE is ${DORY_PULP_ARCHITECTURE}, which has no effect without DORY_PULP_TOOLCHAIN")
  endif()
  dory_find_gcc(DORY_RISCV_GCC riscv64-unknown-elf)
  set(DORY_PULP_GCC ${DORY_RISCV_GCC})
  # -misa-spec=2.2: in later ones csrr is an extension of its own, with whose name GCC 12 picks a libgcc of another ABI.
  set(DORY_PULP_MACHINE "-march=rv32imc -misa-spec=2.2 -mabi=ilp32 --specs=picolibc.specs")
endif()

dory_use_gcc(${DORY_PULP_GCC} "${DORY_PULP_MACHINE}")
dory_release_with_o2()
dory_explain_overflows()
