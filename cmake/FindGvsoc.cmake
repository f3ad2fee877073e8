# Finds gvsoc, the simulator of GAP8, in an installation of its own or inside gap_sdk or pulp-sdk.
#
#   DORY_GVSOC_ROOT       hint: the installation's folder. Without it, gvsoc_launcher is looked for on the PATH.
#   DORY_GVSOC_AXI_BYTES  bytes a cycle of the AXI routers: 8 (default) or 4
#   DORY_GVSOC_CACHES     instruction caches: the chip's (default) or gvsoc's
#
# Result:
#   Gvsoc_FOUND, DORY_GVSOC_LAUNCHER
#   DORY_GVSOC_COMMAND    list: the command that runs the ELF file appended to it (cmake/gvsoc/run_gvsoc.py)

set(DORY_GVSOC_ROOT "" CACHE PATH "Where gvsoc is installed; empty: gvsoc_launcher is looked for on the PATH")
set(DORY_GVSOC_AXI_BYTES 8 CACHE STRING "Bytes a cycle of gvsoc's AXI routers: 8, as on the chip, or 4, gvsoc's default")
set_property(CACHE DORY_GVSOC_AXI_BYTES PROPERTY STRINGS 4 8)
set(DORY_GVSOC_CACHES chip CACHE STRING "Instruction caches: chip, 16 and 4 KiB (cluster, controller), or gvsoc, 4 and 1 KiB")
set_property(CACHE DORY_GVSOC_CACHES PROPERTY STRINGS chip gvsoc)

# Not cached: a root that is given later must count.
unset(DORY_GVSOC_LAUNCHER)
if(DORY_GVSOC_ROOT)
  find_program(DORY_GVSOC_LAUNCHER gvsoc_launcher NO_CACHE NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
               PATHS ${DORY_GVSOC_ROOT} PATH_SUFFIXES bin install/workstation/bin)
  if(NOT DORY_GVSOC_LAUNCHER) # else all tests would be skipped where a letter is wrong
    message(FATAL_ERROR "dory: DORY_GVSOC_ROOT is ${DORY_GVSOC_ROOT}, and there is no bin/gvsoc_launcher and no "
                        "install/workstation/bin/gvsoc_launcher in it. Without gvsoc, leave DORY_GVSOC_ROOT empty")
  endif()
else()
  find_program(DORY_GVSOC_LAUNCHER gvsoc_launcher NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
endif()
find_program(DORY_GVSOC_PYTHON NAMES /usr/bin/python3 python3 NO_CACHE NO_CMAKE_FIND_ROOT_PATH) # not one that a script looks for each time

set(Gvsoc_FOUND FALSE)
if(DORY_GVSOC_LAUNCHER AND DORY_GVSOC_PYTHON)
  set(Gvsoc_FOUND TRUE)
  set(gvsoc_root "${DORY_GVSOC_ROOT}")
  if(NOT gvsoc_root)
    get_filename_component(gvsoc_root ${DORY_GVSOC_LAUNCHER} REALPATH)
    get_filename_component(gvsoc_root ${gvsoc_root} DIRECTORY)
    get_filename_component(gvsoc_root ${gvsoc_root} DIRECTORY)
  endif()
  set(DORY_GVSOC_COMMAND ${DORY_GVSOC_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gvsoc/run_gvsoc.py
      --root ${gvsoc_root} --axi-bytes ${DORY_GVSOC_AXI_BYTES} --caches ${DORY_GVSOC_CACHES}
      --prepared ${CMAKE_BINARY_DIR}/gvsoc)
endif()
