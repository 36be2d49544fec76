# SPDX-License-Identifier: Apache-2.0
# GPU code that travels inside the library: compiled by nvcc alone to one compressed image a file, without the CUDA runtime.

# What each release of nvcc cannot compile is left out; tests ask for all of it.
function(gpuprof_kernel_targets result)
  set(known "")
  if(CUDAToolkit_NVCC_EXECUTABLE AND GPUPROF_BUILD_PEAK_KERNELS)
    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
    string(REGEX MATCHALL "sm_[0-9]+[af]?" known "${known}")
  endif()
  set(${result} "${known}" PARENT_SCOPE)
endfunction()

# gpuprof_kernel_image(NAME TARGETS 75 80 90a ... [PTX 100]): <build>/kernels/NAME.fatbin from kernels/NAME.cu
function(gpuprof_kernel_image name)
  cmake_parse_arguments(arg "" "PTX" "TARGETS" ${ARGN})
  gpuprof_kernel_targets(known)
  set(flags "")
  foreach(target IN LISTS arg_TARGETS)
    string(REGEX REPLACE "[af]$" "" plain "${target}")
    if("sm_${target}" IN_LIST known OR "sm_${plain}" IN_LIST known)
      list(APPEND flags -gencode "arch=compute_${target},code=sm_${target}")
    endif()
  endforeach()
  if(arg_PTX AND "sm_${arg_PTX}" IN_LIST known)
    list(APPEND flags -gencode "arch=compute_${arg_PTX},code=compute_${arg_PTX}")
  endif()
  file(GLOB shared_headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cuh" "${CMAKE_CURRENT_SOURCE_DIR}/kernel_arguments.hpp")
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cu")
  set(image "${PROJECT_BINARY_DIR}/kernels/${name}.fatbin")
  set_property(GLOBAL APPEND PROPERTY GPUPROF_KERNEL_IMAGES "${image}")
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND flags --compress-mode=size)
  endif()
  if(NOT CUDAToolkit_NVCC_EXECUTABLE OR NOT flags MATCHES "gencode")
    file(WRITE "${image}" "")  # nothing for this compiler: the library says so when it is asked to measure
    return()
  endif()
  add_custom_command(OUTPUT "${image}"
    COMMAND "${CMAKE_COMMAND}" "-DNVCC=${CUDAToolkit_NVCC_EXECUTABLE}" "-DSOURCE=${source}" "-DIMAGE=${image}"
      "-DFLAGS=${flags}" "-DINCLUDE=${PROJECT_SOURCE_DIR}/libgpuprof" -P "${PROJECT_SOURCE_DIR}/tools/cmake/compile_kernels.cmake"
    DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/tools/cmake/compile_kernels.cmake"
      ${shared_headers}
    COMMENT "Compiling peak kernels ${name}" VERBATIM)
endfunction()
