include(${CMAKE_CURRENT_LIST_DIR}/DoryArguments.cmake)

# DORY_TARGET: the machine that HAL, kernels and networks are built for. The toolchain files of dory set it; a build with
# another toolchain names it.
if(CMAKE_CROSSCOMPILING)
  set(DORY_TARGET_DEFAULT virt)
else()
  set(DORY_TARGET_DEFAULT host)
endif()
set(DORY_TARGET ${DORY_TARGET_DEFAULT} CACHE STRING "Hardware to build for: host, virt, gap8, siracusa, pmsis or cortexm")
set_property(CACHE DORY_TARGET PROPERTY STRINGS host virt gap8 siracusa pmsis cortexm)
set(DORY_CORTEXM_CHIP cortex-m4 CACHE STRING "With DORY_TARGET cortexm: the target that the generator plans for, such as cortex-m55")
set(DORY_TARGET_DESCRIPTION "" CACHE FILEPATH "Description of a machine that the generator does not know: sizes, rates")

# What to do to build for a machine, for messages. Without its toolchain file the compiler would be this PC's.
function(_dory_how_to_configure variable machine)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  set(arguments_host "without a toolchain file")
  set(arguments_virt "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/virt.cmake")
  set(arguments_gap8 "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/gap8.cmake")
  set(arguments_siracusa "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/siracusa.cmake")
  set(arguments_cortexm "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/m4.cmake, or your own toolchain and -DDORY_TARGET=cortexm")
  set(arguments_pmsis "with the SDK's toolchain and -DDORY_TARGET=pmsis")
  if(NOT DEFINED arguments_${machine})
    set(arguments_${machine} "with the toolchain file of ${machine}, which sets DORY_TARGET")
  endif()
  set(${variable} "configure a new build folder ${arguments_${machine}}" PARENT_SCOPE)
endfunction()

if(DORY_TARGET MATCHES "^(virt|gap8|siracusa|cortexm)$" AND NOT CMAKE_CROSSCOMPILING)
  _dory_how_to_configure(_dory_advice ${DORY_TARGET})
  message(FATAL_ERROR "dory: DORY_TARGET is ${DORY_TARGET}, but the compiler is this PC's: ${_dory_advice}")
endif()
