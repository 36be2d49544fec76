// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/gpu_options.hpp"

#include "replay/format/word_list.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace gpuprof::replay {
namespace {

std::string text_of(char const* variable) {
  char const* const text = std::getenv(variable);
  return text != nullptr ? text : "";
}
double number_of(char const* variable, double otherwise) {
  auto const text = text_of(variable);
  return text.empty() ? otherwise : std::strtod(text.c_str(), nullptr);
}

gpu_options read_options() {
  gpu_options w;
  std::sscanf(text_of("REPLAY_GPU_CHIP").c_str(), "%d.%d", &w.compute_major, &w.compute_minor);
  w.sm_count = static_cast<int>(number_of("REPLAY_GPU_SMS", 0));
  w.l2_mib = static_cast<int>(number_of("REPLAY_GPU_L2_MIB", 0));
  w.takes_ptx = text_of("REPLAY_GPU_NO_PTX").empty();
  w.free_mib = number_of("REPLAY_GPU_FREE_MIB", 0);
  w.limit_mib = number_of("REPLAY_GPU_LIMIT_MIB", 0);
  w.mhz = number_of("REPLAY_GPU_MHZ", 1980);
  w.noise = number_of("REPLAY_GPU_NOISE", 0);
  for (auto& name : words_in_variable("REPLAY_GPU_WRONG")) w.wrong.insert(std::move(name));
  for (auto& name : words_in_variable("REPLAY_GPU_DIFFERS")) w.differing.insert(std::move(name));
  for (auto const& item : words_in_variable("REPLAY_GPU_FAST")) {
    auto const colon = item.find(':');
    if (colon != std::string::npos)
      w.shares[item.substr(0, colon)] = std::strtod(item.c_str() + colon + 1, nullptr);
  }
  w.ledger = text_of("REPLAY_GPU_LEDGER");
  return w;
}

/// FUNCTION[:N]=CODE
struct failing_call {
  std::string function;
  unsigned long nth = 0, calls = 0;
  CUresult code = CUDA_SUCCESS;
};

std::vector<failing_call> failing_calls(char const* variable) {
  std::vector<failing_call> all;
  for (auto const& item : words_in_variable(variable)) {
    auto const equals = item.find('=');
    failing_call call;
    call.function = item.substr(0, equals);
    if (equals != std::string::npos)
      call.code = static_cast<CUresult>(std::strtol(item.c_str() + equals + 1, nullptr, 10));
    if (auto const colon = call.function.find(':'); colon != std::string::npos) {
      call.nth = std::strtoul(call.function.c_str() + colon + 1, nullptr, 10);
      call.function.resize(colon);
    }
    all.push_back(call);
  }
  return all;
}

/// Counts; true for the call that is meant.
bool is_meant(failing_call& call, std::string_view function) {
  if (call.function != function) return false;
  ++call.calls;
  return call.nth == 0 || call.nth == call.calls;
}

}  // namespace

gpu_options const& options() {
  static auto const* const all = new gpu_options(read_options());
  return *all;
}

CUresult forced_result(std::string_view function) {
  static auto* const failing = new auto(failing_calls("REPLAY_GPU_FAIL"));
  static auto* const losing = new auto(failing_calls("REPLAY_GPU_LOST"));
  static CUresult lost = CUDA_SUCCESS;
  for (auto& call : *losing) {
    if (lost == CUDA_SUCCESS && is_meant(call, function)) lost = call.code;
  }
  if (lost != CUDA_SUCCESS) return lost;
  for (auto& call : *failing) {
    if (is_meant(call, function)) return call.code;
  }
  return CUDA_SUCCESS;
}

}  // namespace gpuprof::replay
