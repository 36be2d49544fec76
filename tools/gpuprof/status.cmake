# What `gpuprof status` needs beyond the other subcommands.
find_package(nlohmann_json REQUIRED)
target_sources(gpuprof_cli PRIVATE child_probe.cpp gpu_checks.cpp system_checks.cpp)
target_link_libraries(gpuprof_cli PRIVATE
  gpuprof_settings gpuprof_driver gpuprof_cupti gpuprof_cuda_headers nlohmann_json::nlohmann_json
  ${CMAKE_DL_LIBS})
