# Everything from outside, by find_package, as distribution packages provide it.

find_package(spdlog REQUIRED)
find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)  # headers only
include(gpuprof_cuda)

# zstd comes with or without a CMake package; the static library is linked into libgpuprof.so.
find_library(GPUPROF_ZSTD_STATIC NAMES libzstd.a REQUIRED)
find_path(GPUPROF_ZSTD_INCLUDE zstd.h REQUIRED)
add_library(gpuprof_zstd INTERFACE)
target_include_directories(gpuprof_zstd SYSTEM INTERFACE ${GPUPROF_ZSTD_INCLUDE})
target_link_libraries(gpuprof_zstd INTERFACE ${GPUPROF_ZSTD_STATIC})

# spdlog and its fmt as headers only: nothing of theirs may be a shared library of ours. Distributions build spdlog against a
# separate fmt; SPDLOG_FMT_EXTERNAL_HO takes that one as headers too.
find_package(fmt REQUIRED)
add_library(gpuprof_spdlog INTERFACE)
target_include_directories(gpuprof_spdlog SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(gpuprof_spdlog INTERFACE SPDLOG_FMT_EXTERNAL_HO)
target_link_libraries(gpuprof_spdlog INTERFACE fmt::fmt-header-only)
