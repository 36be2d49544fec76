// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/loaded_modules.hpp"

#include "replay/cupti/faults.hpp"
#include "replay/cupti/made_up_counters.hpp"
#include "support/made_cubin.hpp"

namespace gpuprof::replay {
namespace {

namespace sass = test::sass;

std::vector<test::machine_word> code_of(std::string_view kernel) {
  auto const path = tensor_path_of(kernel);
  if (!path) return {sass::ffma, sass::fadd, sass::exit};
  switch (path->operations) {
    case counter::tensor_bf16:
      return {sass::wgmma_bf16, sass::exit};
    case counter::tensor_fp16:
      return {sass::wgmma_fp16, sass::exit};
    default:
      return {sass::wgmma_tf32, sass::exit};
  }
}

}  // namespace

loaded_modules& loaded_modules::get() noexcept {
  static auto* const one = new loaded_modules;
  return *one;
}

loaded_module loaded_modules::load_for(std::string_view kernel) {
  std::lock_guard const hold(lock_);
  if (!kernels_.emplace(kernel).second) return {};
  test::made_cubin cubin{90, {{std::string(kernel), code_of(kernel), {}}}};
  if (faults::get().launching_kernels)
    cubin.functions[0].externals = {"__cuda_syscall_cnpv2LaunchDeviceV2"};
  return {static_cast<std::uint32_t>(kernels_.size()), cubin.bytes()};
}

}  // namespace gpuprof::replay
