# What chips of the PULP family share. A chip's CMakeLists.txt includes this; its folder has
#
#   include/dory/pulp_chip.h  numbers that inlined calls need
#   chip.h                    events of the fabric controller, power of the cluster, HyperBus
#   chip.ld                   the linker's MEMORY, and __rom_l2_bytes, what the boot ROM uses at the end of L2
#
# and sources of its own.

string(TOUPPER DORY_${DORY_TARGET} chip)
set(${chip}_CORE_STACK_BYTES 1280 CACHE STRING "Stack of one cluster core, in L1; there are 8 of them")
set(${chip}_FC_STACK_BYTES 4096 CACHE STRING "Least stack of the fabric controller, in its own memory")
set(DORY_FLASH_OFFSET 0x100000 CACHE STRING "Where the data area starts in the HyperFlash, behind the boot image")
set(DORY_HYPER_BURST_BYTES 16384 CACHE STRING "Longest HyperBus burst; 512 on a board without burst limits in its controller")
set(DORY_HYPER_QUEUE_DEPTH 2 CACHE STRING "HyperBus bursts handed to the uDMA at a time, 1 or 2")
option(${chip}_STACK_CHECK "The cores watch sp themselves: gvsoc stops at the instruction that leaves a stack" OFF)

set(pulp ${CMAKE_CURRENT_LIST_DIR})
set(sources crt0.S interrupt.S beside.c boot.c cluster.c dma.c inline.c l3.c log.c memory.c stack.c)
list(TRANSFORM sources PREPEND ${pulp}/)
target_sources(dory_hal PRIVATE ${pulp}/../common/switch.S ${sources})
target_include_directories(dory_hal
  PUBLIC $<BUILD_INTERFACE:${pulp}/include> $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  PRIVATE ${pulp} ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(dory_hal
  PUBLIC DORY_HAL_INLINE
  PRIVATE
    DORY_FLASH_OFFSET=${DORY_FLASH_OFFSET}u
    DORY_HYPER_BURST_BYTES=${DORY_HYPER_BURST_BYTES}u
    DORY_HYPER_QUEUE_DEPTH=${DORY_HYPER_QUEUE_DEPTH}u
    $<$<BOOL:${${chip}_STACK_CHECK}>:DORY_PULP_STACK_CHECK>)
if(DORY_PULP_TOOLCHAIN)
  target_compile_definitions(dory_hal PUBLIC DORY_PULP_TOOLCHAIN)
  target_sources(dory_hal PRIVATE ${pulp}/newlib.c)
  # The compiler's own list of libraries has one of system calls for a simulator.
  target_link_options(dory_hal INTERFACE -nodefaultlibs -Wl,--undefined=sbrk)
  target_link_libraries(dory_hal INTERFACE -lc -lgcc)
endif()

target_link_options(dory_hal INTERFACE
  $<BUILD_INTERFACE:-T${pulp}/pulp.ld>
  $<BUILD_INTERFACE:-L${CMAKE_CURRENT_SOURCE_DIR}> # chip.ld
  -nostartfiles
  -Wl,--gc-sections
  -Wl,--undefined=_start # the linker takes crt0 out of the library because of it
  -Wl,--defsym=DORY_PULP_CORE_STACK_BYTES=${${chip}_CORE_STACK_BYTES}
  -Wl,--defsym=DORY_PULP_FC_STACK_BYTES=${${chip}_FC_STACK_BYTES}
  -Wl,--defsym=DORY_FLASH_OFFSET=${DORY_FLASH_OFFSET})
set_property(TARGET dory_hal APPEND PROPERTY INTERFACE_LINK_DEPENDS ${pulp}/pulp.ld ${CMAKE_CURRENT_SOURCE_DIR}/chip.ld)
