# Writes project_template.c, in which the files of this folder are strings; see ../project_template.h.
set(project_template ${CMAKE_CURRENT_BINARY_DIR}/project_template.c)
set(project_template_entries "")
foreach(path IN ITEMS CMakePresets.json plain/CMakeLists.txt plain/main.c ai-deck/CMakeLists.txt ai-deck/answer.c ai-deck/settings.h
    export/CMakeLists.txt export/README.md export/zephyr/CMakeLists.txt export/zephyr/Kconfig export/zephyr/module.yml
    export/idf_component.yml export/@name@.clayer.yml export/library.json export/library.properties)
  set(file ${CMAKE_CURRENT_LIST_DIR}/${path}.in)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(REGEX REPLACE "/.*" "" board ${path})
  if(NOT path MATCHES "/")
    set(board)
  endif()
  string(REGEX REPLACE "^${board}/" "" name ${path})
  string(APPEND project_template_entries "    {\"${board}\", \"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${project_template}.new
"/* Written by CMake from generator/command/template. */
#include \"command/project_template.h\"

const struct project_template project_templates[] = {
${project_template_entries}};

const int project_template_count = sizeof project_templates / sizeof *project_templates;
")
file(COPY_FILE ${project_template}.new ${project_template} ONLY_IF_DIFFERENT)
