// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/launch_parameters.hpp"

#include "base/own_memory.hpp"

#include <string_view>

namespace gpuprof::guest {
namespace {

constexpr unsigned max_attributes = 64;  // CUDA 13 has 17

/// Before the call nobody has looked at what the program passes: the driver may refuse it unseen.
bool can_read(CUlaunchConfig const* config) noexcept {
  if (!gpuprof::can_read(config, sizeof *config)) return false;
  if (config->attrs == nullptr || config->numAttrs == 0) return true;
  return config->numAttrs <= max_attributes &&
         gpuprof::can_read(config->attrs, config->numAttrs * sizeof *config->attrs);
}

bool is_cooperative(CUlaunchConfig const& config) noexcept {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      return config.attrs[i].value.cooperative != 0;
  }
  return false;
}

/// What two calls have under the same names.
template <class Parameters>
launch_parameters plain_launch(Parameters const& p) noexcept {
  return {.work = p.f,
          .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
          .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
          .shared_bytes = p.sharedMemBytes,
          .stream = p.hStream,
          .arguments = p.kernelParams};
}

}  // namespace

launch_call_kind launch_call_named(char const* text) noexcept {
  std::string_view name = text != nullptr ? text : "";
  launch_call_kind kind;
  constexpr std::string_view per_thread = "_ptsz";
  if (name.ends_with(per_thread)) {
    kind.default_stream_per_thread = true;
    name.remove_suffix(per_thread.size());
  }
  if (name == "cuLaunchKernel")
    kind.call = launch_call::kernel;
  else if (name == "cuLaunchKernelEx")
    kind.call = launch_call::kernel_ex;
  else if (name == "cuLaunchCooperativeKernel")
    kind.call = launch_call::cooperative;
  else if (name == "cuGraphLaunch")
    kind.call = launch_call::graph;
  else if (name.starts_with("cuLaunch") && name != "cuLaunchHostFunc")
    kind.call = launch_call::not_readable;
  return kind;
}

// The _ptsz variants have the same parameters.
bool read_launch_parameters(launch_call_kind kind, CUpti_CallbackData const& call,
                            launch_parameters& into) noexcept {
  if (call.functionParams == nullptr) return false;
  if (kind.call == launch_call::kernel) {
    auto const& p = *static_cast<cuLaunchKernel_params const*>(call.functionParams);
    into = plain_launch(p);
    into.argument_buffer = p.extra;
  } else if (kind.call == launch_call::kernel_ex) {
    auto const& p = *static_cast<cuLaunchKernelEx_params const*>(call.functionParams);
    if (!can_read(p.config)) return false;
    auto const& c = *p.config;
    into = {p.f,
            {c.gridDimX, c.gridDimY, c.gridDimZ},
            {c.blockDimX, c.blockDimY, c.blockDimZ},
            c.sharedMemBytes,
            c.hStream,
            is_cooperative(c),
            p.kernelParams,
            p.extra};
  } else if (kind.call == launch_call::cooperative) {
    auto const& p = *static_cast<cuLaunchCooperativeKernel_params const*>(call.functionParams);
    into = plain_launch(p);
    into.cooperative = true;
  } else if (kind.call == launch_call::graph) {
    auto const& p = *static_cast<cuGraphLaunch_params const*>(call.functionParams);
    into = {p.hGraph, {}, {}, 0, p.hStream, false};
  } else {
    return false;
  }
  if (into.stream == nullptr && kind.default_stream_per_thread) into.stream = CU_STREAM_PER_THREAD;
  return true;
}

}  // namespace gpuprof::guest
