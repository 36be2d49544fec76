# SPDX-License-Identifier: Apache-2.0
# Build options, compiler warnings and sanitizers, as the interface target gpuprof_flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Paths in objects begin at the top folder of the tree: a build says nothing about the machine it was made on, and a compiler cache finds
# what it compiled for another checkout of the same sources.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>")
# The cache must see when a header is edited while it is compiled (no include_file_mtime): it would keep the old object for the new text.
find_program(GPUPROF_CCACHE ccache)
mark_as_advanced(GPUPROF_CCACHE)
if(GPUPROF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros "${GPUPROF_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
# Eight files at a time take less time than one by one: they read their headers once. Debug builds, for work on gpuprof, take them one by
# one: they say what a file forgot to include.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
endif()

option(GPUPROF_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GPUPROF_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(GPUPROF_BUILD_PEAK_KERNELS "Compile the peak kernels, if nvcc is found; without them the library measures no peaks" ON)
option(GPUPROF_BUILD_GPU_CHECK "Build the programs of gpu-check, which run on a GPU alone" ON)
option(GPUPROF_BUILD_BENCHMARKS "Build the Google Benchmark programs" OFF)
set(GPUPROF_BUILT_COMMAND "" CACHE FILEPATH "The gpuprof command of another build: tests of the library use it, and none is built")
option(GPUPROF_BUILD_PYTHON "Build what the Python package holds (tools/python); its libraries have no version in their names" OFF)
option(GPUPROF_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(GPUPROF_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
set(GPUPROF_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined or thread")

add_library(gpuprof_flags INTERFACE)
target_compile_options(gpuprof_flags INTERFACE -Wall -Wextra -Wpedantic $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_UNITY_BUILD)
  # Of files taken together a local name may be that of another file and a class looks like one in a header; so much inlined at once, g++
  # 12 takes members of a variant for uninitialized. Builds of one file at a time and clang-tidy warn.
  target_compile_options(gpuprof_flags INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
else()
  target_compile_options(gpuprof_flags INTERFACE -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong on assignments of literals to std::string: https://gcc.gnu.org/PR105651
  target_compile_options(gpuprof_flags INTERFACE -Wno-restrict)
endif()
if(GPUPROF_WERROR)
  target_compile_options(gpuprof_flags INTERFACE -Werror)
endif()
if(GPUPROF_SANITIZE)
  add_compile_options(-fsanitize=${GPUPROF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GPUPROF_SANITIZE})
  # gcc 12 sees uninitialized members inside std::regex once it is instrumented (GCC bug 105562).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
# Of gcc's checks those for null and alignment take half of the time to compile a file. The address sanitizer finds the one; the other
# matters where bytes of others are read: these layers keep both. Fuzzers, built with clang, have all checks everywhere.
set(GPUPROF_READS_BYTES base capture collect counters cupti metrics nvtx)
set(gpuprof_checks_of_bytes "")
if(GPUPROF_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fno-sanitize=null,alignment)
  set(gpuprof_checks_of_bytes -fsanitize=null,alignment)
endif()
# Rules and texts see figures that are added up, not records: they are small before they are fast.
set(GPUPROF_SMALL advice compare options report)
# -O3 makes these larger by a tenth, and no faster.
set(GPUPROF_PLAIN analysis reading replay)

# The standard headers are compiled once for all layers, where several files are compiled at a time anyway. Debug builds read them in
# each file, so they say what a file forgot to include.
if(CMAKE_UNITY_BUILD)
  file(CONFIGURE OUTPUT standard_headers.cpp CONTENT "// Stands for a layer: the headers are compiled for it.\n")
  add_library(gpuprof_standard_headers STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/standard_headers.cpp")
  target_link_libraries(gpuprof_standard_headers PRIVATE gpuprof_flags)
  set(GPUPROF_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <deque> <filesystem> <functional>
    <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector>)
  target_precompile_headers(gpuprof_standard_headers PRIVATE ${GPUPROF_STANDARD_HEADERS})
endif()

# One layer of the library: a static library that may include its own folder and the layers it names.
function(gpuprof_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  add_library(gpuprof_${name} STATIC ${arg_SOURCES})
  target_include_directories(gpuprof_${name} PUBLIC "${PROJECT_SOURCE_DIR}/libgpuprof")
  list(TRANSFORM arg_LAYERS PREPEND gpuprof_)
  target_link_libraries(gpuprof_${name} PUBLIC ${arg_LAYERS} PRIVATE gpuprof_flags ${arg_LIBRARIES})
  if(name IN_LIST GPUPROF_SMALL)
    target_compile_options(gpuprof_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  elseif(name IN_LIST GPUPROF_PLAIN)
    target_compile_options(gpuprof_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(gpuprof_checks_of_bytes AND name IN_LIST GPUPROF_READS_BYTES)
    target_compile_options(gpuprof_${name} PRIVATE ${gpuprof_checks_of_bytes})
  elseif(CMAKE_UNITY_BUILD AND NOT name IN_LIST GPUPROF_SMALL AND NOT name IN_LIST GPUPROF_PLAIN)  # headers go with one -O
    target_precompile_headers(gpuprof_${name} REUSE_FROM gpuprof_standard_headers)
  endif()
endfunction()
