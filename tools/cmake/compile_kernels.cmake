# SPDX-License-Identifier: Apache-2.0
# Compiles one file of GPU code and refuses what ptxas only remarks on: warpgroup multiplications that it had to serialize
# (C7510, C7514) run at a quarter of the speed, and the measured peak would be wrong without any error.
get_filename_component(folder "${IMAGE}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
execute_process(
  COMMAND "${NVCC}" -std=c++20 -fatbin -diag-suppress 177 ${FLAGS} "-I${INCLUDE}" "${SOURCE}" -o "${IMAGE}"
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
if(NOT said STREQUAL "")
  message("${said}")
endif()
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile")
endif()
if(said MATCHES "C7510|C7514|serialized")
  file(REMOVE "${IMAGE}")
  message(FATAL_ERROR "${SOURCE}: ptxas serializes wgmma instructions, see above")
endif()
