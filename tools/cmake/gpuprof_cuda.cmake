# SPDX-License-Identifier: Apache-2.0
# What is taken from CUDA to build, in two parts that need not fit each other:
# - The headers of one release, whatever toolkit is here or none: cuda.h, cupti.h and nvtx3 of CUDA 13.0. From them come the layouts of
#   records, those of older releases included. The toolkit's if it is of that release, else what
#   tools/fetch_cuda_headers.sh fetches from PyPI.
# - A compiler of GPU code, nvcc of CUDA 12.0 or newer, for the peak kernels, the examples and the programs of gpu-check. Without
#   one these are left out.
# At run time neither is needed: libcupti and the driver are opened as they are found.
set(GPUPROF_CUDA_HEADERS "" CACHE PATH "Folder with include/cuda.h and include/cupti.h of CUDA 13.0. Empty: the toolkit's, or those of tools/fetch_cuda_headers.sh")

# The include folders below `root`, if its CUPTI is of the release; else nothing.
function(gpuprof_headers_of_release root result)
  set(found "")
  foreach(folder "${root}/include" "${root}/extras/CUPTI/include")
    if(EXISTS "${folder}/cupti_version.h" AND EXISTS "${root}/include/cuda.h")
      file(STRINGS "${folder}/cupti_version.h" version REGEX "#define CUPTI_API_VERSION +1300[0-9][0-9]")
      if(version)
        list(APPEND found "${root}/include" "${folder}")
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_NVCC_EXECUTABLE AND CUDAToolkit_VERSION VERSION_LESS 12.0)
  message(WARNING "${CUDAToolkit_NVCC_EXECUTABLE} is of CUDA ${CUDAToolkit_VERSION}, which knows no C++20: the library will have no peak kernels. 12.0 will do")
  set(CUDAToolkit_NVCC_EXECUTABLE "")
endif()
set(GPUPROF_CUDA_ROOT "${GPUPROF_CUDA_HEADERS}")
if(NOT GPUPROF_CUDA_ROOT)
  foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS)
    get_filename_component(root "${folder}/.." ABSOLUTE)
    gpuprof_headers_of_release("${root}" found)
    if(found AND NOT GPUPROF_CUDA_ROOT)
      set(GPUPROF_CUDA_ROOT "${root}")
    endif()
  endforeach()
endif()
if(NOT GPUPROF_CUDA_ROOT)
  set(GPUPROF_CUDA_ROOT "${PROJECT_SOURCE_DIR}/build/cuda-headers")  # one for all build folders
  gpuprof_headers_of_release("${GPUPROF_CUDA_ROOT}" found)
  if(NOT found)
    message(FATAL_ERROR "There is no toolkit of CUDA 13.0 here, and gpuprof is built against the headers of that release. "
      "tools/fetch_cuda_headers.sh fetches them from PyPI into build/cuda-headers; then run cmake again")
  endif()
endif()
gpuprof_headers_of_release("${GPUPROF_CUDA_ROOT}" GPUPROF_CUDA_INCLUDES)
if(NOT GPUPROF_CUDA_INCLUDES)
  message(FATAL_ERROR "${GPUPROF_CUDA_ROOT} has no include/cuda.h or no include/cupti.h of CUDA 13.0. Set GPUPROF_CUDA_HEADERS to a "
    "folder that has both, or leave it empty and run tools/fetch_cuda_headers.sh")
endif()
message(STATUS "CUDA headers: ${GPUPROF_CUDA_ROOT}; nvcc: ${CUDAToolkit_NVCC_EXECUTABLE}")
if(NOT CUDAToolkit_FOUND)
  set(CUDAToolkit_ROOT "${GPUPROF_CUDA_ROOT}")
  find_package(CUDAToolkit QUIET)  # its static runtime, for programs in C
endif()

# The libcupti beside the headers, for the tests that ask the real one.
find_path(GPUPROF_CUPTI_FOLDER NAMES libcupti.so PATHS "${GPUPROF_CUDA_ROOT}/lib64" "${GPUPROF_CUDA_ROOT}/lib"
  "${GPUPROF_CUDA_ROOT}/extras/CUPTI/lib64" NO_DEFAULT_PATH)
mark_as_advanced(GPUPROF_CUPTI_FOLDER)

# Vendor headers as a target of their own, so that only the layers that name it see <cupti.h>. nvcc takes those it came with.
set(nvcc_includes "")
foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS)
  list(APPEND nvcc_includes "${folder}")
  if(EXISTS "${folder}/../extras/CUPTI/include")
    list(APPEND nvcc_includes "${folder}/../extras/CUPTI/include")
  endif()
endforeach()
add_library(gpuprof_cuda_headers INTERFACE)
target_include_directories(gpuprof_cuda_headers SYSTEM INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${GPUPROF_CUDA_INCLUDES}>" "$<$<COMPILE_LANGUAGE:CUDA>:${nvcc_includes}>")
