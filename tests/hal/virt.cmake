# Only on virt: wrong firmware stops with a message, QEMU's exit status is main's, what exceeds a memory does not link.
function(add_virt_case case)
  add_executable(virt_${case} virt_misuse.c)
  target_compile_definitions(virt_${case} PRIVATE CASE=${case})
  target_link_libraries(virt_${case} PRIVATE dory::hal dory_warnings)
endfunction()

# With a message to look for, ctest does not look at the exit status.
function(add_virt_message case message)
  add_virt_case(${case})
  dory_add_firmware_test(hal_virt_${case} virt_${case} TIMEOUT 60)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set_tests_properties(hal_virt_${case} PROPERTIES PASS_REGULAR_EXPRESSION "${message}")
  endif()
endfunction()

add_virt_message(trap "dory hal: trap on hart 2: store access fault, cause 0x00000007, at 0x800[0-9a-f]+, value 0x00000000")
add_virt_message(deadlock "dory hal: deadlock: a core returned while others wait at a barrier")
add_virt_message(timing "late and early")
add_virt_message(forget "dory hal: a core never waited for a DMA ticket.*a transfer between L2 and L1 failed")

if(CMAKE_CROSSCOMPILING_EMULATOR)
  add_virt_case(status)
  add_test(NAME hal_virt_status
           COMMAND sh -c "\"$@\"; test $? -eq 42" sh ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:virt_status>)
  set_tests_properties(hal_virt_status PROPERTIES LABELS virt TIMEOUT 60)
endif()

# `option` is for the compiler or, -Wl, for the linker.
function(add_virt_too_big name option message)
  add_executable(virt_${name} EXCLUDE_FROM_ALL virt_misuse.c)
  target_compile_definitions(virt_${name} PRIVATE CASE=status)
  if(option MATCHES "^-Wl")
    target_link_options(virt_${name} PRIVATE ${option})
  else()
    target_compile_definitions(virt_${name} PRIVATE ${option})
  endif()
  target_link_libraries(virt_${name} PRIVATE dory::hal)
  add_test(NAME hal_virt_${name} COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target virt_${name})
  set_tests_properties(hal_virt_${name} PROPERTIES LABELS virt RUN_SERIAL ON PASS_REGULAR_EXPRESSION "${message}")
endfunction()

add_virt_too_big(l1_exceeded L1_ARRAY_BYTES=66000 "region .L1. overflowed")
add_virt_too_big(l2_exceeded L2_ARRAY_BYTES=600000 "region .L2. overflowed")
add_virt_too_big(l1_stacks -Wl,--defsym=dory_core_stack_bytes=8192 "dory: L1 .64 KiB. is full")
add_virt_too_big(l2_stack -Wl,--defsym=dory_fc_stack_bytes=520000 "dory: L2 .512 KiB. is full")
