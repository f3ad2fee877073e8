# Finds the maintained gvsoc, built for the chip that CMAKE_SYSTEM_PROCESSOR names: siracusa or pulp_open. Each needs an
# installation of its own, so that it has a variable of its own.
#
#   DORY_GVSOC_<CHIP>_ROOT   the folder that it was installed to, such as DORY_GVSOC_SIRACUSA_ROOT. Empty: there is none; the gvsoc
#                            of a PATH may be any other.
#
# Result:
#   GvsocPulp_FOUND
#   DORY_GVSOC_PULP_COMMAND  list: the command that runs the ELF file appended to it (cmake/gvsoc/run_pulp.py)

string(TOUPPER DORY_GVSOC_${CMAKE_SYSTEM_PROCESSOR}_ROOT _dory_root)
string(REPLACE _ - _dory_gvsoc_target ${CMAKE_SYSTEM_PROCESSOR})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${_dory_root})
set(${_dory_root} "" CACHE PATH "Where the maintained gvsoc with the target ${_dory_gvsoc_target} is installed")
find_program(DORY_GVSOC_PYTHON NAMES /usr/bin/python3 python3 NO_CACHE NO_CMAKE_FIND_ROOT_PATH)

set(GvsocPulp_FOUND FALSE)
if(${_dory_root})
  foreach(_dory_part IN ITEMS bin/gvsoc generators/${_dory_gvsoc_target}.py)
    if(NOT EXISTS ${${_dory_root}}/${_dory_part}) # else all tests would be skipped where a letter is wrong
      message(FATAL_ERROR "dory: ${_dory_root} is ${${_dory_root}}, and there is no ${_dory_part} in it. Without gvsoc, leave ${_dory_root} empty")
    endif()
  endforeach()
  if(DORY_GVSOC_PYTHON)
    set(GvsocPulp_FOUND TRUE)
    set(DORY_GVSOC_PULP_COMMAND ${DORY_GVSOC_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/gvsoc/run_pulp.py --target ${_dory_gvsoc_target} --root ${${_dory_root}})
  endif()
endif()
