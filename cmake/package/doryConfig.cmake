# find_package(dory): the function dory_add_network (DoryNetwork.cmake says how), dory_add_aideck (DoryAideck.cmake), and the
# targets
#
#   dory::dory     the generator, a program of the build machine
#   dory::kernels  the layer kernels, compiled in the consumer's build for DORY_TARGET
#   dory::hal      the hardware that they run on, likewise
#   dory::check    main of a program that compares every layer
#
# Variables: DORY_TARGET, DORY_GENERATOR (another program than the installed one).
get_filename_component(_dory_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(_dory_program "${_dory_root}/../../bin/dory" ABSOLUTE)

get_property(_dory_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
foreach(_dory_language IN ITEMS C ASM) # weights come as assembly sources
  if(NOT _dory_language IN_LIST _dory_languages)
    enable_language(${_dory_language})
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/DoryTarget.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/DoryGenerator.cmake")
if(NOT DORY_GENERATOR AND NOT TARGET dory::dory AND EXISTS "${_dory_program}")
  _dory_import_generator("${_dory_program}")
endif()
dory_find_generator("")

if(NOT TARGET dory_hal)
  add_subdirectory("${_dory_root}" "${CMAKE_BINARY_DIR}/dory" EXCLUDE_FROM_ALL)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/DoryNetwork.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/DoryAideck.cmake")
