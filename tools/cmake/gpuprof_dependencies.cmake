# SPDX-License-Identifier: Apache-2.0
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

# LLVM's demangler, which takes names apart: abi::__cxa_demangle() gives text alone, and libiberty's tree is not dependable (its
# cplus_demangle_v3_components() parses with a variable that nobody has set).
file(GLOB llvm_folders /usr/lib/llvm-*)
find_library(GPUPROF_LLVM_DEMANGLE_STATIC NAMES libLLVMDemangle.a PATHS ${llvm_folders} PATH_SUFFIXES lib REQUIRED)
get_filename_component(llvm_folder "${GPUPROF_LLVM_DEMANGLE_STATIC}/../.." ABSOLUTE)
find_path(GPUPROF_LLVM_INCLUDE llvm/Demangle/Demangle.h PATHS "${llvm_folder}" PATH_SUFFIXES include REQUIRED)
# It ends the process when there is no memory for a name: names/kernel_name.cpp throws instead.
set(demangle_that_throws "${CMAKE_BINARY_DIR}/libgpuprof_demangle.a")
execute_process(
  COMMAND "${CMAKE_OBJCOPY}" --redefine-sym _ZSt9terminatev=gpuprof_no_memory_to_demangle
    "${GPUPROF_LLVM_DEMANGLE_STATIC}" "${demangle_that_throws}" COMMAND_ERROR_IS_FATAL ANY)
add_library(gpuprof_llvm_demangle INTERFACE)
target_include_directories(gpuprof_llvm_demangle SYSTEM INTERFACE ${GPUPROF_LLVM_INCLUDE})
target_link_libraries(gpuprof_llvm_demangle INTERFACE "${demangle_that_throws}")

# spdlog and its fmt as headers only: nothing of theirs may be a shared library of ours. Distributions build spdlog against a
# separate fmt; SPDLOG_FMT_EXTERNAL_HO takes that one as headers too.
find_package(fmt REQUIRED)
add_library(gpuprof_spdlog INTERFACE)
target_include_directories(gpuprof_spdlog SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(gpuprof_spdlog INTERFACE SPDLOG_FMT_EXTERNAL_HO)
target_link_libraries(gpuprof_spdlog INTERFACE fmt::fmt-header-only)

include(gpuprof_formats)
