#!/usr/bin/env bash
# The package descriptions of an exported network: each is read by its own tool's rules as far as they are here, CMake's are run.
# Usage: packages.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
. "$(dirname "$(realpath "$0")")/common.sh"
export_network digits "$source/apps/digits/digits.onnx" host

configure() { # NAME: the project in the folder NAME
  cmake -G Ninja -S "$1" -B "$1/build" >log 2>&1 && cmake --build "$1/build" >>log 2>&1 || { cat log; fail "$1"; }
}
main='#include "digits.h"
int main(void) { return digits_run(0, 0, 0) == -1 ? 0 : 1; }'

# a project of the user's, the export as a folder of it
mkdir plain
echo "$main" >plain/main.c
echo 'cmake_minimum_required(VERSION 3.13)
project(plain C)
add_subdirectory(../digits digits)
add_executable(firmware main.c)
target_link_libraries(firmware digits)' >plain/CMakeLists.txt
configure plain
plain/build/firmware || fail "plain: the program"

# The other build systems' own functions are not here: what stands in their place collects what they are called with. Sources are
# compared with those of the plain library.
(cd digits && find "$PWD/src" -name '*.c' | sort) >sources
collect() { # NAME CMAKE-LINES
  mkdir "$1"
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(%s C)\nfunction(collect)\n  list(FILTER ARGN INCLUDE REGEX "[.]c$")\n  string(REPLACE ";" "\\n" text "${ARGN}")\n  file(WRITE ${CMAKE_BINARY_DIR}/sources "${text}\\n")\nendfunction()\n%s\n' "$1" "$2" >"$1/CMakeLists.txt"
  cmake -G Ninja -S "$1" -B "$1/build" >log 2>&1 || { cat log; fail "$1"; }
  sort "$1/build/sources" | xargs -n 1 realpath | diff - sources || fail "$1: other sources"
}
collect idf 'set(ESP_PLATFORM 1)
set(COMPONENT_LIB component)
function(idf_component_register)
  collect(${ARGN})
  add_library(component INTERFACE)
endfunction()
function(target_compile_options)
endfunction()
add_subdirectory(../digits digits)'
collect zephyr 'set(CONFIG_DORY_DIGITS y)
foreach(name IN ITEMS zephyr_library_named zephyr_library_compile_options zephyr_include_directories)
  file(APPEND ${CMAKE_BINARY_DIR}/functions.cmake "function(${name})\nendfunction()\n")
endforeach()
include(${CMAKE_BINARY_DIR}/functions.cmake)
function(zephyr_library_sources)
  collect(${ARGN})
endfunction()
add_subdirectory(../digits/zephyr digits)'
collect pico 'set(PICO_SDK_PATH sdk)
add_subdirectory(../digits digits)
get_target_property(sources digits INTERFACE_SOURCES)
collect(${sources})'

/usr/bin/env python3 -c 'import yaml' 2>/dev/null || { echo "no python3-yaml: YAML and JSON are not read"; exit 77; }
python3 - <<'PYTHON'
import json, os, re, yaml

def only(mapping, needed, allowed):
    assert set(needed) <= set(mapping) <= set(needed) | set(allowed), mapping

module = yaml.safe_load(open("digits/zephyr/module.yml"))
only(module, ["build"], ["name"])
only(module["build"], ["cmake", "kconfig"], [])
assert os.path.isfile(os.path.join("digits", module["build"]["cmake"], "CMakeLists.txt"))
kconfig = open(os.path.join("digits", module["build"]["kconfig"])).read()
assert re.match(r'config DORY_DIGITS\n\tbool "[^"]+"\n\thelp\n(\t  .+\n)+$', kconfig), kconfig

component = yaml.safe_load(open("digits/idf_component.yml"))
only(component, ["version"], ["description", "license"])
assert re.fullmatch(r"\d+\.\d+\.\d+", component["version"])

layer = yaml.safe_load(open("digits/digits.clayer.yml"))["layer"]
only(layer, ["groups"], ["description", "add-path"])
files = [os.path.join("digits", file["file"]) for group in layer["groups"] for file in group["files"]]
assert all(map(os.path.isfile, files)) and all(os.path.isdir(os.path.join("digits", path)) for path in layer["add-path"])
assert sorted(os.path.realpath(file) for file in files if file.endswith(".c")) == open("sources").read().split()

library = json.load(open("digits/library.json"))
only(library, ["name", "version"], ["description", "license", "frameworks", "platforms", "headers", "build"])
assert os.path.isfile(os.path.join("digits", library["build"]["srcDir"], library["headers"]))

properties = dict(line.rstrip("\n").split("=", 1) for line in open("digits/library.properties"))
only(properties, ["name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"], ["includes"])
print("module.yml, Kconfig, idf_component.yml, clayer.yml, library.json, library.properties: read")
PYTHON
