# SPDX-License-Identifier: Apache-2.0
# Arrow's C++ libraries as the target gpuprof_arrow, for the Parquet export: as CMake packages of the system, else those
# inside the Python package pyarrow. Nothing is fetched; without them the target is missing and the export is left out.
set(GPUPROF_PYARROW "" CACHE PATH "A Python environment, or a folder of packages, that holds pyarrow 26")

# The Python package itself: from a virtual environment, a folder of packages, this project's clients, or python3's own.
function(gpuprof_find_pyarrow result)
  set(places ${GPUPROF_PYARROW}/lib/python3*/site-packages/pyarrow ${GPUPROF_PYARROW}/pyarrow ${GPUPROF_PYARROW})
  if(NOT GPUPROF_PYARROW)
    set(places "${PROJECT_SOURCE_DIR}/build/pyarrow/pyarrow" "${PROJECT_SOURCE_DIR}/build/clients/parquet-*/pyarrow")
    find_program(GPUPROF_PYTHON3 python3)
    if(GPUPROF_PYTHON3)
      execute_process(COMMAND "${GPUPROF_PYTHON3}" -c
        "import importlib.util as u; s = u.find_spec('pyarrow'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      list(PREPEND places ${own})
    endif()
  endif()
  foreach(place IN LISTS places)
    file(GLOB folders "${place}")
    foreach(folder IN LISTS folders)
      if(EXISTS "${folder}/include/parquet/arrow/writer.h")
        set(${result} "${folder}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

# The wheel has headers and libraries but no CMake package, and no names without a version.
function(gpuprof_add_arrow_of_wheel folder)
  file(STRINGS "${folder}/include/arrow/util/config.h" line REGEX "define ARROW_VERSION_MAJOR")
  string(REGEX MATCH "[0-9]+" major "${line}")
  set(libraries "${folder}/libparquet.so.${major}00" "${folder}/libarrow.so.${major}00")
  foreach(library IN LISTS libraries)
    if(NOT EXISTS "${library}")
      message(STATUS "gpuprof: no Parquet export: ${library} is missing, pyarrow there is no wheel of PyPI")
      return()
    endif()
  endforeach()
  add_library(gpuprof_arrow INTERFACE)
  target_include_directories(gpuprof_arrow SYSTEM INTERFACE "${folder}/include")
  target_link_libraries(gpuprof_arrow INTERFACE ${libraries})
  set(GPUPROF_ARROW_MAJOR ${major} PARENT_SCOPE)
  set(GPUPROF_ARROW_RPATH "${folder}" PARENT_SCOPE)
  message(STATUS "gpuprof: Parquet export with Arrow ${major} of ${folder}")
endfunction()

find_package(Parquet CONFIG QUIET)
if(GPUPROF_SANITIZE)
  message(STATUS "gpuprof: no Parquet export: Arrow is not built for sanitizers")
elseif(Parquet_FOUND)
  string(REGEX MATCH "^[0-9]+" GPUPROF_ARROW_MAJOR "${Parquet_VERSION}")
  add_library(gpuprof_arrow INTERFACE)
  target_link_libraries(gpuprof_arrow INTERFACE Parquet::parquet_shared)
  message(STATUS "gpuprof: Parquet export with Arrow ${Parquet_VERSION} of the system")
else()
  gpuprof_find_pyarrow(gpuprof_pyarrow)
  if(gpuprof_pyarrow)
    gpuprof_add_arrow_of_wheel("${gpuprof_pyarrow}")
  else()
    message(WARNING "This build will not write Parquet (gpuprof export --type parquet), everything else is complete: "
      "neither a CMake package Parquet nor the Python package pyarrow was found. To have it:\n"
      "  python3 -m pip install --target build/pyarrow pyarrow==26.0.1\n"
      "and configure again.")
  endif()
endif()
