# SPDX-License-Identifier: Apache-2.0
# -DGPUPROF_GLIBC=2.28: what is built here runs with that release of glibc and all newer ones. The objects are those of any other build.
# They are linked against stub libraries that have the symbols of that release, with the compiler's own libraries inside, and with the
# functions that these take from newer releases (libgpuprof/base/old_glibc.c). tests/package/check_glibc.py says what is too new.
#
# Programs and libraries in C, and those with GPU code, are linked as usual: they are tests and examples.
set(GPUPROF_GLIBC "" CACHE STRING "The oldest release of glibc that the build runs with, such as 2.28. Empty: this machine's")
set(GPUPROF_GLIBC_STUBS "" CACHE PATH "Folder made by tools/fetch_glibc_stubs.sh. Empty: build/glibc-GPUPROF_GLIBC")
if(NOT GPUPROF_GLIBC)
  return()
endif()
if(GPUPROF_SANITIZE)
  message(FATAL_ERROR "GPUPROF_GLIBC does not go with GPUPROF_SANITIZE: the sanitizers need this machine's glibc. Leave one of them empty")
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "GPUPROF_GLIBC was tried with g++ only, and this is ${CMAKE_CXX_COMPILER}. Set CMAKE_CXX_COMPILER to g++, or leave "
    "GPUPROF_GLIBC empty")
endif()

set(gpuprof_stubs "${GPUPROF_GLIBC_STUBS}")
if(NOT gpuprof_stubs)
  set(gpuprof_stubs "${PROJECT_SOURCE_DIR}/build/glibc-${GPUPROF_GLIBC}")  # one for all build folders
endif()
foreach(name Scrt1.o libc.so libc.so.6 libm.so libdl.so libpthread.so)
  if(NOT EXISTS "${gpuprof_stubs}/${name}")
    message(FATAL_ERROR "GPUPROF_GLIBC: there is no ${name} in ${gpuprof_stubs}. tools/fetch_glibc_stubs.sh ${GPUPROF_GLIBC} makes this "
      "folder, with zig from PyPI; GPUPROF_GLIBC_STUBS names another")
  endif()
endforeach()
message(STATUS "gpuprof: for glibc ${GPUPROF_GLIBC} and newer, linked against ${gpuprof_stubs}")

add_library(gpuprof_old_glibc OBJECT "${PROJECT_SOURCE_DIR}/libgpuprof/base/old_glibc.c")
target_link_libraries(gpuprof_old_glibc PRIVATE gpuprof_flags)
set_target_properties(gpuprof_old_glibc PROPERTIES UNITY_BUILD OFF)
link_libraries("$<$<LINK_LANGUAGE:CXX>:$<TARGET_OBJECTS:gpuprof_old_glibc>>")
# -B: the compiler takes crt files and libraries from there before its own. What it brings is nobody else's to use. An exception that
# leaves a library needs the unwinder of the program, libgcc_s.so.1, on both sides: programs have their own unless they say otherwise, and
# libraries only where no exception leaves them (-static-libgcc in libgpuprof/guest/entry and libgpuprof/guest/preload).
define_property(TARGET PROPERTY GPUPROF_SHARES_UNWINDER BRIEF_DOCS "This program catches exceptions of libraries (-DGPUPROF_GLIBC)")
set(has_own_unwinder
  "$<AND:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,$<NOT:$<BOOL:$<TARGET_PROPERTY:GPUPROF_SHARES_UNWINDER>>>>")
add_link_options("$<$<LINK_LANGUAGE:CXX>:-B${gpuprof_stubs}/;-static-libstdc++;$<${has_own_unwinder}:-static-libgcc>>"
  # libgcc_s.so.1 of this machine needs this machine's glibc, that of another machine its own.
  "$<$<LINK_LANGUAGE:CXX>:LINKER:--allow-shlib-undefined>"
  "$<$<LINK_LANGUAGE:CXX>:LINKER:--gc-sections>"  # of the compiler's libraries a tenth is called
  "$<$<LINK_LANGUAGE:CXX>:LINKER:--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a:libc_nonshared.a>")
# Since 2.34 these are part of libc, and the parts of the build do not ask for them.
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -Wl,--push-state,--as-needed -lpthread -ldl -Wl,--pop-state")
