# Everything from outside, by find_package, as distribution packages provide it.

find_package(CUDAToolkit REQUIRED)  # headers only: cuda.h, cupti.h, nvtx3
find_package(spdlog REQUIRED)
find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)  # headers only

# Vendor headers as a target of their own, so that only the layers that name it see <cupti.h>.
add_library(gpuprof_cuda_headers INTERFACE)
target_include_directories(gpuprof_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
foreach(candidate IN LISTS CUDAToolkit_INCLUDE_DIRS)
  if(EXISTS "${candidate}/../extras/CUPTI/include/cupti.h")
    target_include_directories(gpuprof_cuda_headers SYSTEM INTERFACE "${candidate}/../extras/CUPTI/include")
  endif()
endforeach()

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
