// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/inventory/launching_kernels.hpp"

#include "support/catch.hpp"
#include "support/made_cubin.hpp"

#include <string>
#include <vector>

namespace gpuprof {
using namespace guest;
namespace {

using test::made_cubin;

std::vector<std::string> found_in(std::span<std::uint8_t const> image) {
  std::vector<std::string> names;
  find_launching_kernels(image, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

made_cubin some_that_launch() {
  made_cubin cubin{
      90, {{"plain", {}, {}}, {"parent", {}, {}}, {"launcher", {}, {}}, {"prints", {}, {}}}};
  cubin.functions[1].externals = {"__cuda_syscall_cnpv2GetParameterBufferV2",
                                  "__cuda_syscall_cnpv2LaunchDeviceV2"};
  cubin.functions[2].externals = {"cudaGraphLaunch"};
  cubin.functions[3].externals = {"vprintf"};
  return cubin;
}

TEST_CASE("kernels that refer to a launch function of the device runtime are found") {
  CHECK(found_in(some_that_launch().bytes()) == std::vector<std::string>{"parent", "launcher"});
  made_cubin only_prints{90, {{"prints", {}, {}}}};
  only_prints.functions[0].externals = {"vprintf"};
  CHECK(found_in(only_prints.bytes()).empty());
}

TEST_CASE("a launch function defined in the module itself is not that of the driver") {
  made_cubin cubin{90, {{"kernel", {}, {}}, {"cudaGraphLaunch", {}, {}}}};
  cubin.functions[0].externals = {"cudaGraphLaunch"};
  CHECK(found_in(cubin.bytes()).empty());
}

TEST_CASE("damaged modules have no launching kernels and do not end the process") {
  constexpr std::size_t cubin_functions = 4;
  auto const whole = some_that_launch().bytes();
  for (std::size_t size = 0; size < whole.size(); size += 7) found_in(std::span(whole).first(size));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = 0xff;
    CHECK(found_in(damaged).size() <= cubin_functions);
  }
}

TEST_CASE("launching kernels are found by name") {
  launching_kernels known;
  CHECK_FALSE(known.has("parent"));
  known.add_module(some_that_launch().bytes());
  CHECK(known.has("parent"));
  CHECK(known.has("launcher"));
  CHECK_FALSE(known.has("plain"));
}

}  // namespace
}  // namespace gpuprof
