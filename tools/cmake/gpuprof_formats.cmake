# SPDX-License-Identifier: Apache-2.0
# Libraries of the formats that the command exports and imports; nothing of them is in libgpuprof.so. Static where the distribution
# has them so: the command runs on machines that have little.

# gpuprof_static_or(NAME ARCHIVE SHARED): an interface library gpuprof_NAME over the archive, else over the imported target.
function(gpuprof_static_or name archive shared)
  find_library(GPUPROF_${name}_STATIC NAMES ${archive})
  add_library(gpuprof_${name} INTERFACE)
  if(GPUPROF_${name}_STATIC)
    target_link_libraries(gpuprof_${name} INTERFACE ${GPUPROF_${name}_STATIC} Threads::Threads ${CMAKE_DL_LIBS} m)
  else()
    target_link_libraries(gpuprof_${name} INTERFACE ${shared})
  endif()
endfunction()

find_package(SQLite3 REQUIRED)
gpuprof_static_or(sqlite libsqlite3.a SQLite::SQLite3)
target_include_directories(gpuprof_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})

find_package(ZLIB REQUIRED)  # reads gzip as a stream
gpuprof_static_or(zlib libz.a ZLIB::ZLIB)
target_include_directories(gpuprof_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})

# Writes gzip twice as fast as zlib.
find_library(GPUPROF_LIBDEFLATE NAMES libdeflate.a deflate REQUIRED)
find_path(GPUPROF_LIBDEFLATE_INCLUDE libdeflate.h REQUIRED)
add_library(gpuprof_libdeflate INTERFACE)
target_include_directories(gpuprof_libdeflate SYSTEM INTERFACE ${GPUPROF_LIBDEFLATE_INCLUDE})
target_link_libraries(gpuprof_libdeflate INTERFACE ${GPUPROF_LIBDEFLATE})

find_path(GPUPROF_PROTOZERO_INCLUDE protozero/pbf_builder.hpp REQUIRED)  # headers alone
add_library(gpuprof_protozero INTERFACE)
target_include_directories(gpuprof_protozero SYSTEM INTERFACE ${GPUPROF_PROTOZERO_INCLUDE})

include(gpuprof_arrow)  # optional
