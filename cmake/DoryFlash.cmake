# dory_add_flash_data(TARGET SYMBOL FILE)
#
# Puts FILE into the flash of the program TARGET, beside the weights of its networks:
#
#     extern const uint8_t SYMBOL[];                 no memory: an address for
#     hal_flash_address(SYMBOL)                      HAL_FLASH_READ
#
# A relative FILE is one of the current source folder. The program is linked again when the file has changed.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/DoryArguments.cmake)

function(dory_add_flash_data target symbol file)
  dory_require_no_more("dory_add_flash_data(${target} ${symbol})" ${ARGN})
  if(NOT symbol MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "dory_add_flash_data(${target} ${symbol}): the symbol is no name of C")
  endif()
  dory_require_file(file "dory_add_flash_data(${target} ${symbol}):" "${file}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_${symbol}.S)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[/* Made by dory_add_flash_data. */
#include "dory/flash_section.h"
        DORY_FLASH_SECTION
        .balign 8
        .global @symbol@
@symbol@:
        .incbin "@file@"
        .balign 8
#if defined(__linux__)
        .section .note.GNU-stack, "", %progbits /* without it the linker takes the stack for executable, and says so */
#endif
]])
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file}) # .incbin does not show in dependencies
endfunction()
