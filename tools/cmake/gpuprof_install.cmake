# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays out: a relocatable tree. The build tree is laid out alike under
# <build>/lib/cmake, so that a consumer can use either.
include(CMakePackageConfigHelpers)

set(GPUPROF_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/gpuprof")

# Their users link nothing else, whatever every target here is linked with (gpuprof_old_glibc.cmake).
set_property(TARGET gpuprof gpuprof_capture_api gpuprof_headers PROPERTY INTERFACE_LINK_LIBRARIES "")

install(TARGETS gpuprof_headers EXPORT gpuprofTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

install(TARGETS gpuprof gpuprof_capture_api EXPORT gpuprofTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS gpuprof_preload LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")  # preloaded, not linked

# CMake leaves room for another RUNPATH in what it builds, filled up with colons. An empty entry is the current folder, from which the
# loader would take libraries: what users run is built with the RUNPATH that it has where it is installed.
set_target_properties(gpuprof gpuprof_capture_api PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
if(TARGET gpuprof_cli)
  set_target_properties(gpuprof_cli PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
endif()

# Programs find the library beside them wherever the tree is moved.
function(gpuprof_install_program target folder)
  if(NOT TARGET ${target})
    return()
  endif()
  file(RELATIVE_PATH to_library "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS ${target} RUNTIME DESTINATION "${folder}" LIBRARY DESTINATION "${folder}")
endfunction()

gpuprof_install_program(gpuprof_cli "${CMAKE_INSTALL_BINDIR}")
# Test programs and gpu-check: targets name themselves with
# set_property(GLOBAL APPEND PROPERTY GPUPROF_CHECK_PROGRAMS <target>...).
get_property(check_programs GLOBAL PROPERTY GPUPROF_CHECK_PROGRAMS)
foreach(program IN LISTS check_programs)
  gpuprof_install_program(${program} "${CMAKE_INSTALL_LIBEXECDIR}/gpuprof")
endforeach()

install(EXPORT gpuprofTargets NAMESPACE gpuprof:: DESTINATION "${GPUPROF_CONFIG_DIR}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gpuprofConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/gpuprofConfig.cmake"
  INSTALL_DESTINATION "${GPUPROF_CONFIG_DIR}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/gpuprofConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/gpuprofConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/gpuprofConfigVersion.cmake"
  DESTINATION "${GPUPROF_CONFIG_DIR}")

# The same package for the build tree: CMAKE_PREFIX_PATH=<build> finds it.
set(build_package "${PROJECT_BINARY_DIR}/lib/cmake/gpuprof")
file(MAKE_DIRECTORY "${build_package}")
export(EXPORT gpuprofTargets NAMESPACE gpuprof:: FILE "${build_package}/gpuprofTargets.cmake")
configure_file("${PROJECT_BINARY_DIR}/package/gpuprofConfig.cmake" "${build_package}/" COPYONLY)
configure_file("${PROJECT_BINARY_DIR}/package/gpuprofConfigVersion.cmake" "${build_package}/"
  COPYONLY)

# All pages, in the places that they have here: their links hold. The examples and the pages about tests are what they lead to.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/docs/*.json"
  "${PROJECT_SOURCE_DIR}/docs/*.svg" "${PROJECT_SOURCE_DIR}/docs/*.webp" "${PROJECT_SOURCE_DIR}/tests/*.md")
file(GLOB examples CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/examples/*.c" "${PROJECT_SOURCE_DIR}/examples/*.cpp" "${PROJECT_SOURCE_DIR}/examples/*.cu" "${PROJECT_SOURCE_DIR}/examples/*.py")
foreach(page IN LISTS pages examples)
  get_filename_component(folder "${page}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()
