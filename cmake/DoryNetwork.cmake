# dory_add_network(<name> <model.onnx>
#                  [CONFIG <file.json>]     dory's or the original's configuration file
#                  [TARGET host|virt|gap8|siracusa|pulp_open|pmsis|cortexm]  default: DORY_TARGET, the machine that the kernels are built for
#                  [L1_BYTES <n>]           of the memory level; default: the target's
#                  [L2_BYTES <n>]           of the arena; default: what the network's own code and tables and the
#                                           application leave of L2
#                  [APPLICATION_L2_BYTES <n>]  what the application takes of L2, code and data; default: 16384, and
#                                           buffers of its own for the network's inputs and outputs
#                  [CORES <n>]              of the cluster; default: the target's
#                  [CLOCKS <FC>/<CL>]       plan for these clocks of controller and cluster, in MHz; default: equal ones
#                  [EXACT_ADD]              keep sums that can leave 8 bits in 16 bits, do not saturate
#                  [ALL_CHANNELS]           compute also channels that are constant, and those that no layer reads
#                  [REQUANTISATION exact|fast]  fast: a cheaper form where it is not proven equal; the plan says for
#                                           how many sums it differs; default: exact
#                  [WEIGHTS flash|resident|auto|linked]  where weights are before a run: resident: in L2 from run to run,
#                                           brought there once by <name>_load(&buffers); auto: those with which that is
#                                           faster; linked: all of them in the program, without flash; default: flash; on
#                                           cortexm, which reads flash where it lies, linked
#                  [CHECK <dir>|golden]     also test: run and compare every layer with <dir>/out_layer<n>.txt, or with
#                                           the golden interpreter where such a file is missing
#                  [DUMP all|<layer>...]    <name>_run writes its input and the outputs of these layers to the log, for
#                                           `dory diff`: numbers as `dory inspect` has them, or ranges such as 4-6
#                  [OPTIONS <option>...])   passed to `dory generate` as they are
#
# A static library <name> with <name>.h in its include path: link it to a firmware and call <name>_run. The sources are
# made at build time, in the build folder; they are made again when the model, the configuration or the generator
# changed, and compiled again only where their text changed. When generation fails, the build stops with
# the generator's message, and files of an earlier run are left as they were.
#
# Without L2_BYTES, on chips of the PULP family and virt, the network's code is linked once without the network's data, as <name>_probe, to see
# how much of L2 it takes. It depends on the layers and on kernels and HAL only, and is linked again when those change.
#
# With CHECK there are also a test firmware <name>_check and a ctest case <name>_check, labelled with the target.
#
# A keyword without its value (an empty variable), a keyword twice, a file or folder that is not there: an error when the
# project is configured. Files that the build makes lie in its folder, or are outputs of commands.

include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/DoryArguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/DoryTest.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/DoryFlash.cmake)

# Options of `dory generate` that dory_add_network gives itself. Under OPTIONS they would part what is generated from what
# is built: files of an earlier run would be compiled, and nobody would notice.
function(_dory_check_options name)
  set(own --target TARGET --config CONFIG --check CHECK --l1-bytes L1_BYTES --l2-bytes L2_BYTES
      --application-bytes APPLICATION_L2_BYTES --application-buffers APPLICATION_L2_BYTES --cores CORES --clocks CLOCKS --exact-add EXACT_ADD --all-channels ALL_CHANNELS --requantisation REQUANTISATION --weights WEIGHTS --dump-tensors DUMP
      --name "the first argument" --output-dir "not to be chosen" --depfile "not to be chosen"
      --firmware "not to be chosen" --dump "not possible" --list-outputs "not possible" --help "not possible")
  foreach(option IN LISTS ARGN)
    string(REGEX REPLACE "=.*" "" flag "${option}")
    list(FIND own "${flag}" index)
    if(flag MATCHES "^--" AND NOT index EQUAL -1)
      math(EXPR index "${index} + 1")
      list(GET own ${index} word)
      message(FATAL_ERROR "dory_add_network(${name}): OPTIONS ${option}: here it is ${word}")
    endif()
  endforeach()
endfunction()

# CHECK, as an option in `options` of the caller.
macro(_dory_check_option)
  if(arg_CHECK STREQUAL golden)
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/golden)
      message(WARNING "dory_add_network: CHECK golden compares with dory's golden model, not with the files of the folder "
                      "'golden' that is here; for these write CHECK ./golden")
    endif()
    list(APPEND options --check golden)
  elseif(DEFINED arg_CHECK)
    dory_require_file(check "dory_add_network(${name}): CHECK is golden or a folder, and" ${arg_CHECK})
    list(APPEND options --check ${check})
  endif()
endmacro()

# Keywords as options of `dory generate`; the words that a keyword may have are checked when the project is configured.
function(_dory_generator_options variable)
  set(options)
  set(config PARENT_SCOPE)
  if(DEFINED arg_CONFIG)
    dory_require_file(config "dory_add_network(${name}): CONFIG" ${arg_CONFIG})
    list(APPEND options --config ${config})
    set(config ${config} PARENT_SCOPE) # a dependency
  endif()
  set(flag_L1_BYTES --l1-bytes)
  set(flag_L2_BYTES --l2-bytes)
  set(flag_APPLICATION_L2_BYTES --application-bytes)
  set(flag_CORES --cores)
  foreach(keyword IN ITEMS L1_BYTES L2_BYTES APPLICATION_L2_BYTES CORES)
    if(DEFINED arg_${keyword})
      dory_require_size("dory_add_network(${name}): ${keyword}" ${arg_${keyword}}) # of CORES the generator wants no k
      list(APPEND options ${flag_${keyword}} ${arg_${keyword}})
    endif()
  endforeach()
  if(NOT DEFINED arg_L2_BYTES AND NOT DEFINED arg_APPLICATION_L2_BYTES)
    list(APPEND options --application-buffers)
  endif()
  if(DEFINED arg_CLOCKS)
    list(APPEND options --clocks ${arg_CLOCKS})
  endif()
  set(flag_EXACT_ADD --exact-add)
  set(flag_ALL_CHANNELS --all-channels)
  foreach(keyword IN ITEMS EXACT_ADD ALL_CHANNELS)
    if(arg_${keyword})
      list(APPEND options ${flag_${keyword}})
    endif()
  endforeach()
  set(flag_REQUANTISATION --requantisation)
  set(words_REQUANTISATION exact fast)
  set(flag_WEIGHTS --weights)
  set(words_WEIGHTS flash resident auto linked)
  foreach(keyword IN ITEMS REQUANTISATION WEIGHTS)
    if(DEFINED arg_${keyword})
      if(NOT arg_${keyword} IN_LIST words_${keyword})
        list(JOIN words_${keyword} ", " words)
        message(FATAL_ERROR "dory_add_network(${name}): ${keyword} ${arg_${keyword}}: it is one of ${words}")
      endif()
      list(APPEND options ${flag_${keyword}} ${arg_${keyword}})
    endif()
  endforeach()
  _dory_check_option()
  if(DEFINED arg_DUMP)
    string(REPLACE ";" "," layers "${arg_DUMP}")
    list(APPEND options --dump-tensors ${layers})
  endif()
  set(${variable} ${options} ${arg_OPTIONS} PARENT_SCOPE)
endfunction()

# A program of all code that the network may need. On the host code is not in L2, and under another operating system it is
# not for us to link a program.
function(_dory_add_probe name directory)
  set(source ${directory}/${name}_probe.c)
  add_custom_command(
    OUTPUT ${source}
    COMMAND dory::dory probe ${model} --target ${machine} --name ${name} --output-dir ${directory} ${options}
    DEPENDS dory::dory $<TARGET_FILE:dory::dory> ${model} ${config} ${description}
    COMMENT "dory: finding the kernels of ${name}"
    VERBATIM)
  add_executable(${name}_probe EXCLUDE_FROM_ALL ${source})
  set_target_properties(${name}_probe PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${directory})
  target_link_libraries(${name}_probe PRIVATE dory::kernels dory::hal)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/outputs.def)

# Files of outputs.def, with their folder: WHEN is ALWAYS, CHECK or REPORT, USE is SOURCE or OTHER. They follow from the options,
# so the generator need not exist yet.
function(_dory_outputs variable prefix when use)
  file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/outputs.def lines REGEX "^OUTPUT[(]${when}, ${use}, ")
  list(TRANSFORM lines REPLACE "^.*\"(.*)\".*$" "${prefix}\\1")
  set(${variable} ${lines} PARENT_SCOPE)
endfunction()

function(dory_add_network name model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EXACT_ADD;ALL_CHANNELS" "CONFIG;TARGET;L1_BYTES;L2_BYTES;APPLICATION_L2_BYTES;CORES;CLOCKS;REQUANTISATION;WEIGHTS;CHECK" "DUMP;OPTIONS")
  dory_require_arguments("dory_add_network(${name})" "CONFIG;TARGET;L1_BYTES;L2_BYTES;APPLICATION_L2_BYTES;CORES;CLOCKS;REQUANTISATION;WEIGHTS;CHECK;DUMP" ${ARGN})
  _dory_check_options(${name} ${arg_OPTIONS})
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "dory_add_network: ${name} becomes part of C names; letters, digits and underscores only")
  endif()
  if(NOT CMAKE_ASM_COMPILE_OBJECT)
    message(FATAL_ERROR "dory_add_network(${name}): weights are assembly sources: project(${PROJECT_NAME} LANGUAGES C ASM)")
  endif()
  if(NOT DEFINED arg_TARGET)
    set(arg_TARGET ${DORY_TARGET})
  endif()
  if(NOT arg_TARGET STREQUAL DORY_TARGET)
    _dory_how_to_configure(advice ${arg_TARGET})
    message(FATAL_ERROR "dory_add_network(${name}): TARGET ${arg_TARGET}, but this build is for ${DORY_TARGET}: ${advice}")
  endif()
  dory_machine(machine)
  set(description)
  if(DORY_TARGET_DESCRIPTION)
    dory_require_file(machine "dory: DORY_TARGET_DESCRIPTION" ${DORY_TARGET_DESCRIPTION})
    set(description ${machine})
  endif()
  dory_require_file(model "dory_add_network(${name}): the model" ${model})
  _dory_generator_options(options)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${name}_network)
  file(MAKE_DIRECTORY ${directory})
  file(WRITE ${CMAKE_BINARY_DIR}/dory_plans/${name} ${directory}/${name}_plan.txt) # for DoryLink.sh
  _dory_outputs(sources ${directory}/${name} ALWAYS SOURCE)
  _dory_outputs(others ${directory}/${name} ALWAYS OTHER)
  set(check_sources)
  if(DEFINED arg_CHECK)
    _dory_outputs(check_sources ${directory}/${name} CHECK SOURCE)
    _dory_outputs(check_others ${directory}/${name} CHECK OTHER)
    list(APPEND others ${check_others})
  endif()
  if("--report" IN_LIST arg_OPTIONS)
    _dory_outputs(reports ${directory}/ REPORT OTHER)
    list(APPEND others ${reports})
  endif()

  set(probe)
  set(firmware)
  if(NOT DEFINED arg_L2_BYTES AND (DORY_TARGET IN_LIST DORY_PULP_CHIPS OR DORY_TARGET STREQUAL virt))
    _dory_add_probe(${name} ${directory})
    set(probe ${name}_probe)
    set(firmware --firmware $<TARGET_FILE:${name}_probe>)
  endif()
  add_custom_command(
    OUTPUT ${sources} ${others} ${check_sources}
    COMMAND dory::dory generate ${model} --target ${machine} --name ${name} --output-dir ${directory}
            --depfile ${directory}/${name}.d ${options} ${firmware}
    DEPENDS dory::dory $<TARGET_FILE:dory::dory> ${model} ${config} ${description} ${probe} # an imported program is no file dependency by itself
    DEPFILE ${directory}/${name}.d
    COMMENT "dory: generating ${name} for ${arg_TARGET}"
    VERBATIM)
  # .incbin does not show in the compiler's dependencies
  set_source_files_properties(${directory}/${name}_weights.S PROPERTIES OBJECT_DEPENDS ${directory}/${name}_weights.bin)
  set_source_files_properties(${directory}/${name}_check.S PROPERTIES OBJECT_DEPENDS ${directory}/${name}_check.bin)
  set_source_files_properties(${sources} ${check_sources} PROPERTIES INCLUDE_DIRECTORIES ${directory})

  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${directory})
  target_link_libraries(${name} PUBLIC dory::kernels dory::hal)

  if(DEFINED arg_CHECK)
    _dory_add_check(${name} ${check_sources})
  endif()
endfunction()

function(_dory_add_check name)
  add_executable(${name}_check ${ARGN})
  target_link_libraries(${name}_check PRIVATE ${name} dory::check)
  dory_add_firmware_test(${name}_check ${name}_check)
  dory_add_run_target(run_${name}_check ${name}_check)
endfunction()
