# SPDX-License-Identifier: Apache-2.0
# CPack runs this on the files of a package before it packs them. A .deb gets what Debian's policy asks for; tarballs stay as they are.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(usr "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr")
set(documents "${usr}/share/doc/gpuprof")
if(NOT IS_DIRECTORY "${documents}")
  message(FATAL_ERROR "there is no ${documents}")
endif()
file(COPY "${GPUPROF_PACKAGE_FOLDER}/changelog" DESTINATION "${documents}")
file(REMOVE "${documents}/LICENSE")  # copyright names it
file(GLOB pages "${usr}/share/man/man1/*.1")
execute_process(COMMAND gzip -9nf ${pages} "${documents}/changelog" COMMAND_ERROR_IS_FATAL ANY)
file(COPY "${CMAKE_CURRENT_LIST_DIR}/gpuprof.lintian-overrides" DESTINATION "${usr}/share/lintian/overrides")
file(RENAME "${usr}/share/lintian/overrides/gpuprof.lintian-overrides" "${usr}/share/lintian/overrides/gpuprof")
