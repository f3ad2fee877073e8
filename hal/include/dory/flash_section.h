/* Where weight images go. For assembly sources and for C:
 *
 *     #include "dory/flash_section.h"
 *             DORY_FLASH_SECTION
 *             .balign 8
 *             .global mobilenet_weights
 *     mobilenet_weights:
 *             .incbin "mobilenet_weights.bin"
 *
 * hal_flash_address(mobilenet_weights) is then the image's address for HAL_FLASH_READ. The section's name is a
 * C identifier, so that the host's linker delimits it by __start_dory_flash and __stop_dory_flash; the linker scripts
 * of the other machines place the same section in their flash. An image is reached by HAL_FLASH_READ only: on
 * hardware the symbol's address is no memory address.
 */
#ifndef DORY_FLASH_SECTION_H
#define DORY_FLASH_SECTION_H

#ifdef __ASSEMBLER__
/* The formatter would part the sign of %progbits, which assemblers do not forgive. */
/* clang-format off */
#if defined(DORY_HAL_PMSIS) && defined(__riscv)
#define DORY_FLASH_SECTION .section dory_flash, "", %progbits /* an SDK's linker script does not know it: not loaded */
#else
#define DORY_FLASH_SECTION .section dory_flash, "a", %progbits
#endif
/* Of weights that are a part of the program, in memory: on the host with what else the HAL takes for L2. */
#if defined(__riscv) || (defined(__arm__) && !defined(__linux__))
#define DORY_LINKED_SECTION .section .rodata.dory_weights, "a", %progbits
#else
#define DORY_LINKED_SECTION .section dory_l2, "aw", %progbits
#endif
/* clang-format on */
#else
#define DORY_FLASH __attribute__((section("dory_flash"), aligned(8)))
#endif

#endif
