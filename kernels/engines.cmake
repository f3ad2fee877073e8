# What the generator and the firmware have of each engine (dory/engine.h). An engine's descriptions lie beside its kernels, in
# files *description.c, but are the planner's; so are the formats of weights.
set(dory_engines reference xpulpv2 armv7em mve neureka) # folders of kernels/

# A user's firmware has the kernels of those that its machine's description names: no plan of it has others. Tests have all.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH dory_root)
set(dory_engines_here ${dory_engines})
if(NOT CMAKE_SOURCE_DIR STREQUAL dory_root) # PROJECT_IS_TOP_LEVEL is the user's, too, where dory is installed
  dory_engines_of_machine(dory_engines_here ${dory_root}/generator/target)
endif()

set(dory_contract_sources "")
set(dory_engine_sources "")
file(GLOB dory_contract_sources ${DORY_CONFIGURE_DEPENDS} ${CMAKE_CURRENT_LIST_DIR}/shared/*.c ${CMAKE_CURRENT_LIST_DIR}/quads/*.c)
set(dory_engines_of_others "") # no plan for DORY_TARGET has them
if(DORY_TARGET STREQUAL siracusa)
  set(dory_engines_of_others armv7em mve)
elseif(DORY_TARGET IN_LIST DORY_PULP_CHIPS OR DORY_TARGET STREQUAL pmsis)
  set(dory_engines_of_others armv7em mve neureka)
elseif(DORY_TARGET STREQUAL cortexm)
  set(dory_engines_of_others xpulpv2 neureka)
elseif(DORY_TARGET STREQUAL virt)
  set(dory_engines_of_others neureka)
endif()
foreach(engine IN LISTS dory_engines)
  set(folder ${CMAKE_CURRENT_LIST_DIR}/${engine})
  file(GLOB descriptions ${DORY_CONFIGURE_DEPENDS} ${folder}/*description.c ${folder}/*/*description.c)
  file(GLOB kernels ${DORY_CONFIGURE_DEPENDS} ${folder}/*.c ${folder}/*/*.c)
  if(NOT engine IN_LIST dory_engines_here)
    set(kernels "")
  endif()
  list(FILTER kernels EXCLUDE REGEX "description[.]c$")
  list(APPEND dory_contract_sources ${descriptions})
  if(NOT engine IN_LIST dory_engines_of_others)
    list(APPEND dory_engine_sources ${kernels})
  endif()
endforeach()
list(APPEND dory_contract_sources ${CMAKE_CURRENT_LIST_DIR}/xpulpv2/narrow_stage.c # which its description calls
  ${CMAKE_CURRENT_LIST_DIR}/neureka/parts.c ${CMAKE_CURRENT_LIST_DIR}/neureka/registers.c)
