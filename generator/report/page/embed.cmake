# Writes report_page.c, in which the files of this folder are strings; see ../report_page.h.
set(report_page ${CMAKE_CURRENT_BINARY_DIR}/report_page.c)
set(report_page_strings "")
set(report_page_parts_html page.html)
set(report_page_parts_css page.css)
set(report_page_parts_js tools.js timeline.js layers.js graph.js page.js)
set(report_page_parts_compare_js tools.js timeline.js compare.js)
set(report_page_parts_explore_js tools.js explore.js)
foreach(kind IN ITEMS html css js compare_js explore_js)
  set(literals "")
  foreach(part IN LISTS report_page_parts_${kind})
    set(file ${CMAKE_CURRENT_LIST_DIR}/${part})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}") # no trigraphs
    string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
    string(APPEND literals "\n    \"${text}\"")
  endforeach()
  string(APPEND report_page_strings "const char report_page_${kind}[] =${literals};\n")
endforeach()
file(CONFIGURE OUTPUT ${report_page} @ONLY CONTENT
"/* Written by CMake from generator/report/page. */
#include \"report/report_page.h\"

@report_page_strings@")
