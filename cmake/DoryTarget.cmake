# DORY_TARGET: the machine that HAL, kernels and networks are built for. The toolchain files of dory set it; a build with
# another toolchain names it.
if(CMAKE_CROSSCOMPILING)
  set(DORY_TARGET_DEFAULT virt)
else()
  set(DORY_TARGET_DEFAULT host)
endif()
set(DORY_TARGET ${DORY_TARGET_DEFAULT} CACHE STRING "Hardware to build for: host, virt, gap8 or pmsis")
set_property(CACHE DORY_TARGET PROPERTY STRINGS host virt gap8 pmsis)
set(DORY_TARGET_DESCRIPTION "" CACHE FILEPATH "Description of a machine that the generator does not know: sizes, rates")
