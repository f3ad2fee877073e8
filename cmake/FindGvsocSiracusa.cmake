# Finds the maintained gvsoc, built for the target "siracusa".
#
#   DORY_GVSOC_SIRACUSA_ROOT   the folder that it was installed to. Empty: there is none; the gvsoc of a PATH may be any other.
#
# Result:
#   GvsocSiracusa_FOUND
#   DORY_GVSOC_SIRACUSA_COMMAND   list: the command that runs the ELF file appended to it (cmake/gvsoc/run_siracusa.py)

set(DORY_GVSOC_SIRACUSA_ROOT "" CACHE PATH "Where the maintained gvsoc with the target siracusa is installed")
find_program(DORY_GVSOC_PYTHON NAMES /usr/bin/python3 python3 NO_CACHE NO_CMAKE_FIND_ROOT_PATH)

set(GvsocSiracusa_FOUND FALSE)
if(DORY_GVSOC_SIRACUSA_ROOT)
  foreach(part IN ITEMS bin/gvsoc generators/siracusa.py)
    if(NOT EXISTS ${DORY_GVSOC_SIRACUSA_ROOT}/${part}) # else all tests would be skipped where a letter is wrong
      message(FATAL_ERROR "dory: DORY_GVSOC_SIRACUSA_ROOT is ${DORY_GVSOC_SIRACUSA_ROOT}, and there is no ${part} in it. Without gvsoc, "
                          "leave DORY_GVSOC_SIRACUSA_ROOT empty")
    endif()
  endforeach()
  if(DORY_GVSOC_PYTHON)
    set(GvsocSiracusa_FOUND TRUE)
    set(DORY_GVSOC_SIRACUSA_COMMAND ${DORY_GVSOC_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gvsoc/run_siracusa.py --root ${DORY_GVSOC_SIRACUSA_ROOT})
  endif()
endif()
