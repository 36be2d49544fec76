# What `gpuprof peaks` and `profile --peaks` need beyond the other subcommands.
target_sources(gpuprof_cli PRIVATE peaks_beforehand.cpp peaks_output.cpp peaks_progress.cpp)
target_link_libraries(gpuprof_cli PRIVATE gpuprof_peaks gpuprof_driver gpuprof_cuda_headers ${CMAKE_DL_LIBS})
