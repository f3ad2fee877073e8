# Writes report_page.c, in which the files of this folder are strings; see source/report_page.h.
set(report_page ${CMAKE_CURRENT_BINARY_DIR}/report_page.c)
set(report_page_strings "")
foreach(kind IN ITEMS html css js)
  set(file ${CMAKE_CURRENT_LIST_DIR}/page.${kind})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}") # no trigraphs
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND report_page_strings "const char report_page_${kind}[] =\n    \"${text}\";\n")
endforeach()
file(CONFIGURE OUTPUT ${report_page} @ONLY CONTENT
"/* Written by CMake from generator/report. */
#include \"report_page.h\"

@report_page_strings@")
