# What `gpuprof profile` needs beyond the other subcommands.
target_sources(gpuprof_cli PRIVATE
  capture_files.cpp launch_environment.cpp library_file.cpp program_file.cpp run_program.cpp)
target_link_libraries(gpuprof_cli PRIVATE gpuprof_settings)
file(RELATIVE_PATH library_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set_source_files_properties(library_file.cpp PROPERTIES
  COMPILE_DEFINITIONS "GPUPROF_LIBRARY_FROM_BIN=\"${library_from_bin}\"")
