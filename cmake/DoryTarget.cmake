include(${CMAKE_CURRENT_LIST_DIR}/DoryArguments.cmake)

# Chips of the PULP family without an operating system (hal/pulp), and those of them whose SoC is Siracusa's (hal/pulp/pulp_soc.h).
# In the cache, where functions that are called from a user's folder see them.
set(DORY_PULP_SOC_CHIPS siracusa pulp_open CACHE INTERNAL "")
set(DORY_PULP_CHIPS gap8 ${DORY_PULP_SOC_CHIPS} CACHE INTERNAL "")

# DORY_TARGET: the machine that HAL, kernels and networks are built for. The toolchain files of dory set it; a build with
# another toolchain names it.
if(CMAKE_CROSSCOMPILING)
  set(DORY_TARGET_DEFAULT virt)
else()
  set(DORY_TARGET_DEFAULT host)
endif()
set(DORY_TARGET ${DORY_TARGET_DEFAULT} CACHE STRING "Hardware to build for: host, virt, gap8, siracusa, pulp_open, pmsis or cortexm")
set_property(CACHE DORY_TARGET PROPERTY STRINGS host virt ${DORY_PULP_CHIPS} pmsis cortexm)
set(DORY_CORTEXM_CHIP cortex-m4 CACHE STRING "With DORY_TARGET cortexm: the target that the generator plans for, such as cortex-m55")
set(DORY_TARGET_DESCRIPTION "" CACHE FILEPATH "Description of a machine that the generator does not know: sizes, rates")

# What to do to build for a machine, for messages. Without its toolchain file the compiler would be this PC's.
function(_dory_how_to_configure variable machine)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  set(arguments_host "without a toolchain file")
  set(arguments_virt "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/virt.cmake")
  foreach(chip IN LISTS DORY_PULP_CHIPS)
    set(arguments_${chip} "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/${chip}.cmake")
  endforeach()
  set(arguments_cortexm "with -DCMAKE_TOOLCHAIN_FILE=${root}/toolchains/m4.cmake, or your own toolchain and -DDORY_TARGET=cortexm")
  set(arguments_pmsis "with the SDK's toolchain and -DDORY_TARGET=pmsis")
  if(NOT DEFINED arguments_${machine})
    set(arguments_${machine} "with the toolchain file of ${machine}, which sets DORY_TARGET")
  endif()
  set(${variable} "configure a new build folder ${arguments_${machine}}" PARENT_SCOPE)
endfunction()

if(NOT CMAKE_CROSSCOMPILING AND (DORY_TARGET IN_LIST DORY_PULP_CHIPS OR DORY_TARGET MATCHES "^(virt|cortexm)$"))
  _dory_how_to_configure(_dory_advice ${DORY_TARGET})
  message(FATAL_ERROR "dory: DORY_TARGET is ${DORY_TARGET}, but the compiler is this PC's: ${_dory_advice}")
endif()

# The name, for the generator, of the machine that is built for.
function(dory_machine variable)
  set(machine ${DORY_TARGET})
  if(machine STREQUAL pmsis) # GAP8 under another operating system
    set(machine gap8)
  elseif(machine STREQUAL cortexm)
    set(machine ${DORY_CORTEXM_CHIP})
  endif()
  set(${variable} ${machine} PARENT_SCOPE)
endfunction()

# The folders of kernels/ with the engines of that machine, by its description: that of DORY_TARGET_DESCRIPTION, or the one of its
# name in a folder. Without a readable one, about which the generator has more to say, all engines.
function(dory_engines_of_machine variable folder)
  dory_machine(machine)
  set(description ${folder}/${machine}.json)
  if(DORY_TARGET_DESCRIPTION)
    set(description ${DORY_TARGET_DESCRIPTION})
  endif()
  set(engines)
  if(EXISTS ${description})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${description})
    file(READ ${description} text)
    string(JSON count ERROR_VARIABLE fault LENGTH "${text}" engines)
    if(count MATCHES "^[1-9][0-9]*$")
      math(EXPR last "${count} - 1")
      foreach(index RANGE ${last})
        string(JSON engine GET "${text}" engines ${index})
        list(APPEND engines ${engine})
      endforeach()
    endif()
  endif()
  if(NOT engines)
    set(engines ${dory_engines})
  endif()
  list(TRANSFORM engines REPLACE "^portable$" reference)
  set(${variable} ${engines} PARENT_SCOPE)
endfunction()
