#What `gpuprof roofline` needs beyond the other subcommands.
target_sources(gpuprof_cli PRIVATE roofline_output.cpp)
