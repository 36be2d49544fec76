# What `gpuprof roofline` needs beyond the other subcommands.
target_sources(gpuprof_cli PRIVATE later_peaks.cpp roofline_output.cpp roofline_summary.cpp)
