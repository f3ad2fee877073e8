# What is installed, and the Debian package. The generator is a program of this machine; all the rest are sources and
# scripts that any target's build uses where they lie:
#
#   bin/dory, share/man/man1/dory.1
#   share/dory/cmake        find_package(dory): dory_add_network and what belongs to it
#   share/dory/toolchains   for CMAKE_TOOLCHAIN_FILE
#   share/dory/hal, kernels, boards sources
#   share/dory/scripts      what dory_add_aideck runs
#   share/dory/generator/target   descriptions of machines, which say whose kernels a build needs
#   include/dory/cost.h, lib/dory/cost/libdory_cost.so, share/dory/python     what layers cost, for other programs
#   share/doc/dory
#
# These places are fixed: package and toolchain files find one another by relative paths.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/doryConfigVersion.cmake
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT) # sources, whatever the consumer's compiler is for

install(TARGETS dory RUNTIME DESTINATION bin)
install(TARGETS dory_cost LIBRARY DESTINATION lib/dory/cost) # so deep that a Debian package need not run ldconfig
install(FILES ${PROJECT_SOURCE_DIR}/generator/cost/include/dory/cost.h DESTINATION include/dory)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/generator/cost/python/dory_cost.py ${PROJECT_SOURCE_DIR}/generator/cost/python/plinio_cost.py ${PROJECT_SOURCE_DIR}/generator/cost/python/width_search.py
  DESTINATION share/dory/python)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/doryConfig.cmake ${PROJECT_BINARY_DIR}/doryConfigVersion.cmake
  DESTINATION share/dory/cmake)
foreach(module IN ITEMS DoryAideck DoryArguments DoryFlash DoryGenerator DoryNetwork DoryTarget DoryTest FindGvsoc FindGvsocPulp)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/${module}.cmake DESTINATION share/dory/cmake)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/cmake/outputs.def DESTINATION share/dory/cmake)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/cmake/DoryLink.sh DESTINATION share/dory/cmake)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/cmake/gvsoc/run_gvsoc.py ${PROJECT_SOURCE_DIR}/cmake/gvsoc/flash_image.py ${PROJECT_SOURCE_DIR}/cmake/gvsoc/run_pulp.py DESTINATION share/dory/cmake/gvsoc)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/gvsoc/cpx_peer.cpp DESTINATION share/dory/cmake/gvsoc)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/gvsoc/python/imp.py DESTINATION share/dory/cmake/gvsoc/python)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/CMakeLists.txt DESTINATION share/dory)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/toolchains DESTINATION share/dory FILES_MATCHING PATTERN "*.cmake")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hal ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/boards DESTINATION share/dory
  FILES_MATCHING PATTERN "*.[chS]" PATTERN "*.ld" PATTERN "*.ld.in" PATTERN "CMakeLists.txt" PATTERN "engines.cmake" PATTERN "pulp.cmake" PATTERN "*.h.in")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/generator/target DESTINATION share/dory/generator FILES_MATCHING PATTERN "*.json")
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/draw_pictures.py DESTINATION share/dory/scripts)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/dory FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/dory)
install(FILES ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION share/doc/dory RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/docs/dory.1 DESTINATION share/man/man1)

# --- `cpack` in the build folder ------------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the dory authors <dory@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Generates C sources from integer ONNX networks: tiled for the memories of GAP8,\nwith their transfers scheduled, bit for bit the network's results.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake (>= 3.25), ninja-build, gcc-riscv64-unknown-elf, picolibc-riscv64-unknown-elf")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "qemu-system-misc, python3")
include(CPack)
