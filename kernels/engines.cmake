# What the generator and the firmware have of each engine (dory/engine.h). An engine's descriptions lie beside its kernels, in
# files *description.c, but are the planner's; so are the formats of weights.
set(dory_engines reference xpulpv2 armv7em mve neureka) # folders of kernels/

set(dory_contract_sources "")
set(dory_engine_sources "")
file(GLOB dory_contract_sources ${DORY_CONFIGURE_DEPENDS} ${CMAKE_CURRENT_LIST_DIR}/shared/*.c ${CMAKE_CURRENT_LIST_DIR}/quads/*.c)
foreach(engine IN LISTS dory_engines)
  set(folder ${CMAKE_CURRENT_LIST_DIR}/${engine})
  file(GLOB descriptions ${DORY_CONFIGURE_DEPENDS} ${folder}/*description.c ${folder}/*/*description.c)
  file(GLOB kernels ${DORY_CONFIGURE_DEPENDS} ${folder}/*.c ${folder}/*/*.c)
  list(FILTER kernels EXCLUDE REGEX "description[.]c$")
  list(APPEND dory_contract_sources ${descriptions})
  if(NOT "${engine}-${DORY_TARGET}" MATCHES "^(xpulpv2-cortexm|(armv7em|mve)-(gap8|pmsis|siracusa)|neureka-(gap8|pmsis|virt|cortexm))$") # no plan for it has them
    list(APPEND dory_engine_sources ${kernels})
  endif()
endforeach()
list(APPEND dory_contract_sources ${CMAKE_CURRENT_LIST_DIR}/xpulpv2/narrow_stage.c) # which its description calls
