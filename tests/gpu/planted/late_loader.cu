// SPDX-License-Identifier: Apache-2.0
// Code that is loaded while the loop runs, as of a size that was not seen before: seven modules
// that the driver must compile. Mended: all before the loop.
#include "planted.hpp"

#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace planted {
namespace {

constexpr unsigned modules = 7, instructions = 2'000;

/// As the runtime finds them, so that nothing is linked.
template <class Function>
Function driver_function(char const* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult how{};
  CUDA_OK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &how));
  return reinterpret_cast<Function>(found);
}

void driver_ok(CUresult code, char const* what) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(code));
  std::exit(3);
}

/// A kernel with so many instructions, different ones in each module.
std::string module_text(unsigned number) {
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry late_" +
      std::to_string(number) +
      "(.param .u64 values)\n{\n.reg .b64 %a;\n.reg .f32 %x, %y;\n"
      "ld.param.u64 %a, [values];\ncvta.to.global.u64 %a, %a;\nld.global.f32 %x, [%a];\n"
      "mov.f32 %y, %x;\n";
  for (unsigned i = 0; i < instructions; ++i)
    text += "fma.rn.f32 %y, %y, %x, 0f3F" + std::to_string(100'000 + (i * 7 + number) % 900'000) +
            ";\n";
  return text + "st.global.f32 [%a], %y;\nret;\n}\n";
}

class loader {
 public:
  loader() {
    for (unsigned i = 0; i < modules; ++i) texts_.push_back(module_text(i));
  }
  void load(unsigned number) {
    auto const start = std::chrono::steady_clock::now();
    CUmodule module{};
    auto const name = "late_" + std::to_string(number);
    driver_ok(load_(&module, texts_[number].c_str()), "cuModuleLoadData");
    driver_ok(function_(&functions_[number], module, name.c_str()), "cuModuleGetFunction");
    seconds_ += seconds_since(start);
  }
  /// In all loads. Compiling the same text takes 80 ms now and 140 then.
  double seconds() const { return seconds_; }
  void launch(unsigned number, float* values, cudaStream_t stream) const {
    void* arguments[] = {&values};
    driver_ok(launch_(functions_[number], 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
              "cuLaunchKernel");
  }

 private:
  decltype(&cuModuleLoadData) load_ =
      driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleGetFunction) function_ =
      driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuLaunchKernel) launch_ = driver_function<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  std::vector<std::string> texts_;
  CUfunction functions_[modules]{};
  double seconds_ = 0;
};

}  // namespace

int late_loader(options const& asked) {
  setenv("CUDA_CACHE_DISABLE", "1", 1);  // else it is late only once on each machine
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto* const values = device_array<float>(1);
  good_work const work(250);
  loader code;
  for (unsigned i = 0; i < modules && asked.mended; ++i) code.load(i);
  // Right after a wait, spread over the loop.
  auto const between = asked.steps / (modules + 1) / 10 * 10;
  loop(asked, stream, [&](unsigned step) {
    auto const number = between == 0 ? 0 : (step - 3) / between - 1;
    if (between != 0 && step > 3 && (step - 3) % between == 0 && number < modules) {
      if (!asked.mended) code.load(number);
      code.launch(number, values, stream);
    }
    for (int i = 0; i < 4; ++i) work.launch(stream);
  });
  std::printf("fault_seconds %.6f\n", code.seconds());
  return 0;
}

}  // namespace planted
