#include "counters/launches/idle_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gpuprof {
namespace {

/// Of the whole pipe: a part of it may idle while another works. The least over all SMs, too.
bool tells_of_tensor_pipe(std::string_view metric) {
  auto const base = metric.substr(0, metric.find('.'));
  if (base != "sm__pipe_tensor_cycles_active" && base != "sm__inst_executed_pipe_tensor")
    return false;
  return !metric.substr(base.size()).starts_with(".min");
}

}  // namespace

bool fill_idle_tensor(std::span<std::string const> metrics, std::span<double> values) {
  auto is_idle = false;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    is_idle = is_idle || (tells_of_tensor_pipe(metrics[i]) && values[i] == 0);
  if (!is_idle) return false;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (std::isnan(values[i]) && metrics[i].starts_with("sm__ops_path_tensor_")) values[i] = 0;
  return std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

}  // namespace gpuprof
