# What `gpuprof metrics` needs beyond the other subcommands.
target_sources(gpuprof_cli PRIVATE chip_at_hand.cpp metric_names.cpp metrics_output.cpp)
target_link_libraries(gpuprof_cli PRIVATE gpuprof_counters gpuprof_cuda_headers)
