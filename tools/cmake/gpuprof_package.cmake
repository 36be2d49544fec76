# SPDX-License-Identifier: Apache-2.0
# Packages by CPack: a .deb and a tarball of what `cmake --install` lays out. tools/build_packages.sh makes and checks them.

# Who made what is linked into the programs and libraries, in their own words: Debian keeps these beside each package.
set(parts libzstd-dev libspdlog-dev libfmt-dev llvm-14-dev libsqlite3-dev zlib1g-dev libdeflate-dev nlohmann-json3-dev libcli11-dev
  libeigen3-dev libprotozero-dev)
if(GPUPROF_GLIBC)
  list(APPEND parts libstdc++-${CMAKE_CXX_COMPILER_VERSION_MAJOR}-dev libc6-dev)
endif()
set(files)
foreach(part IN LISTS parts)
  file(GLOB found "/usr/share/doc/${part}/copyright")
  list(APPEND files ${found})
endforeach()
file(GLOB of_pages "${PROJECT_SOURCE_DIR}/libgpuprof/host/page/licenses/*.txt")
set(text "gpuprof is under the Apache License 2.0: see /usr/share/common-licenses/Apache-2.0, and LICENSE beside this file.\n\nCopyright: the gpuprof developers\n\n"
  "Parts of others are inside of its programs, libraries and pages. What follows is what they say of themselves.\n")
foreach(file IN LISTS files of_pages)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(name "${folder}" NAME)
  if(name STREQUAL "licenses")
    get_filename_component(name "${file}" NAME_WE)
  endif()
  file(READ "${file}" words)
  string(APPEND text "\n\n==== ${name} ====\n\n${words}")
endforeach()
list(JOIN text "" text)
file(WRITE "${PROJECT_BINARY_DIR}/package/copyright" "${text}")
install(FILES "${PROJECT_BINARY_DIR}/package/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(NOT PROJECT_IS_TOP_LEVEL OR GPUPROF_BUILD_PYTHON)
  return()
endif()
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME gpuprof)
set(CPACK_PACKAGE_VENDOR "gpuprof")
set(CPACK_PACKAGE_CONTACT "gpuprof developers <gpuprof@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU profiler that lives inside the profiled process")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "records every kernel, copy and NVTX range of CUDA programs, of unmodified
PyTorch, JAX and plain ones, reads hardware counters within 1 % of the time
without replaying kernels, and says for each kernel how far it is from what
this GPU can do.

CUPTI of CUDA 12 or 13 is found where PyTorch, JAX or a toolkit has it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# By hand: dpkg-shlibdeps knows which package of this machine has a library, not which releases of it will do.
if(GPUPROF_GLIBC)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${GPUPROF_GLIBC}), libgcc-s1 | libgcc1")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(control "${PROJECT_BINARY_DIR}/package")
file(WRITE "${control}/triggers" "activate-noawait ldconfig\n")
file(WRITE "${control}/shlibs" "libgpuprof ${PROJECT_VERSION_MAJOR} gpuprof (>= ${PROJECT_VERSION})\nlibgpuprof-capture 1 gpuprof (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${control}/triggers;${control}/shlibs")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/package/cpack_options.cmake")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${PROJECT_BINARY_DIR}/package/changelog" "gpuprof (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
  "  * What has changed for users: /usr/share/doc/gpuprof/CHANGELOG.md.gz\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
file(WRITE "${CPACK_PROJECT_CONFIG_FILE}" "set(GPUPROF_PACKAGE_FOLDER \"${PROJECT_BINARY_DIR}/package\")\n"
  "if(CPACK_GENERATOR STREQUAL \"TGZ\")\n  set(CPACK_PACKAGING_INSTALL_PREFIX \"/\")\nendif()\n")
include(CPack)
