# SPDX-License-Identifier: Apache-2.0
# The public headers as their users meet them: alone, in every language version they promise.
function(gpuprof_header_alone name header standard)
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/${name}${ARGV3}")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <gpuprof/${header}>\n#include <gpuprof/${header}>\n")
  add_library(header_${name} OBJECT "${unit}")
  set_target_properties(header_${name} PROPERTIES
    CXX_STANDARD ${standard} C_STANDARD ${standard} CXX_EXTENSIONS OFF C_EXTENSIONS OFF)
  target_link_libraries(header_${name} PRIVATE gpuprof_headers gpuprof_flags gpuprof_cuda_headers)
endfunction()

gpuprof_header_alone(c99 gpuprof.h 99 .c)
gpuprof_header_alone(c11 gpuprof.h 11 .c)
gpuprof_header_alone(c_as_cpp17 gpuprof.h 17 .cpp)
gpuprof_header_alone(peaks_c99 peaks.h 99 .c)
gpuprof_header_alone(peaks_as_cpp17 peaks.h 17 .cpp)
gpuprof_header_alone(cpp17 gpuprof.hpp 17 .cpp)
gpuprof_header_alone(cpp20 gpuprof.hpp 20 .cpp)
gpuprof_header_alone(capture_cpp17 capture.hpp 17 .cpp)
gpuprof_header_alone(capture_records_cpp17 capture_records.hpp 17 .cpp)
gpuprof_header_alone(tables_c99 tables.h 99 .c)
gpuprof_header_alone(tables_as_cpp17 tables.h 17 .cpp)

add_executable(header_disabled disabled.cpp)
target_link_libraries(header_disabled PRIVATE gpuprof_headers gpuprof_flags gpuprof_cuda_headers)
add_test(NAME header_disabled COMMAND header_disabled)

gpuprof_test(header_test SOURCES header_test.cpp LAYERS base model nvtx
  LIBRARIES gpuprof_headers gpuprof_cuda_headers)

if(TARGET gpuprof)
  add_test(NAME c_abi COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/abi_test.py" "${CMAKE_C_COMPILER}"
    "${PROJECT_SOURCE_DIR}/include" "$<TARGET_FILE:gpuprof>" "${PROJECT_VERSION}")
  set_tests_properties(c_abi PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
