// SPDX-License-Identifier: Apache-2.0
// What is known of kernels by their names, as modules come.
#include "guest/metrics/inventory/code_inventory.hpp"

#include "support/catch.hpp"
#include "support/made_cubin.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using enum instruction_class;

namespace {

std::vector<std::uint8_t> module_of(std::string const& kernel, machine_word word) {
  return made_cubin{90, {{kernel, {word, sass::exit}, {}}}}.bytes();
}

}  // namespace

TEST_CASE("a kernel is known once its module has been loaded") {
  code_inventory inventory;
  CHECK_FALSE(inventory.find("gemm"));
  inventory.add_module(module_of("gemm", sass::wgmma_bf16));
  auto const found = inventory.find("gemm");
  REQUIRE(found);
  CHECK(*found == kernel_code{90, wgmma_bf16, true});
  CHECK_FALSE(inventory.find("gem"));
}

TEST_CASE("a kernel that is loaded again stays the same") {
  code_inventory inventory;
  inventory.add_module(module_of("gemm", sass::wgmma_bf16));
  inventory.add_module(module_of("gemm", sass::wgmma_bf16));
  CHECK(inventory.find("gemm")->is_complete);
}

TEST_CASE("a module rewritten by CUPTI leaves the kernel known") {
  using enum code_inventory::origin;
  code_inventory inventory;
  inventory.add_module(module_of("kernel", sass::wgmma_bf16));
  auto const rewritten =
      made_cubin{90, {{"kernel", {sass::wgmma_bf16, sass::exit}, {}, true}}}.bytes();
  inventory.add_module(rewritten, maybe_rewritten);
  CHECK(inventory.find("kernel") == kernel_code{90, wgmma_bf16, true});

  // The program too may load a module while launches are read.
  inventory.add_module(module_of("kernel", sass::wgmma_fp16), maybe_rewritten);
  CHECK(inventory.find("kernel") == kernel_code{90, wgmma_bf16 | wgmma_fp16, true});
}

TEST_CASE("the code known for a name stops changing, however often modules are loaded") {
  code_inventory inventory;
  auto const small = module_of("kernel", sass::ffma), other = module_of("kernel", sass::fadd);
  auto const large = made_cubin{90, {{"kernel", {sass::imad, sass::fadd}, {}}}}.bytes();
  for (auto const* const module : {&small, &large, &other}) inventory.add_module(*module);
  auto const known = inventory.find("kernel");
  CHECK(known == kernel_code{90, fp32, true, {2, 1, 0}});
  for (int i = 0; i < 10; ++i)
    for (auto const* const module : {&small, &large, &other}) inventory.add_module(*module);
  CHECK(inventory.find("kernel") == known);
}

TEST_CASE("different kernels of one name have the union of their instructions") {
  code_inventory inventory;
  inventory.add_module(module_of("kernel", sass::wgmma_bf16));
  inventory.add_module(module_of("kernel", sass::ffma));
  CHECK(inventory.find("kernel") == kernel_code{90, wgmma_bf16 | fp32, true, {1, 2, 0}});

  auto const calls = made_cubin{90, {{"kernel", {sass::exit}, {}, true}}}.bytes();
  inventory.add_module(calls);
  CHECK(inventory.find("kernel") == kernel_code{90, wgmma_bf16 | fp32, false, {1, 2, 0}});
}

TEST_CASE("a module with more code than the limit is skipped and counted") {
  code_inventory inventory({.functions = 10, .code_bytes = 16});
  inventory.add_module(module_of("kernel", sass::ffma));
  CHECK_FALSE(inventory.find("kernel"));
  CHECK(inventory.counted().too_large == 1);
}

TEST_CASE("functions beyond the limit are left out and counted") {
  code_inventory inventory({.functions = 1, .code_bytes = 1 << 20});
  inventory.add_module(module_of("first", sass::ffma));
  inventory.add_module(module_of("second", sass::ffma));
  CHECK(inventory.find("first"));
  CHECK_FALSE(inventory.find("second"));
  CHECK(inventory.counted().left_out == 1);
}

TEST_CASE("an image that is not a cubin is counted, and changes nothing") {
  code_inventory inventory;
  inventory.add_module({});
  CHECK(inventory.counted().damaged == 1);
  CHECK(inventory.counted().modules == 0);
}

TEST_CASE("a version number shows that there may be a new answer") {
  code_inventory inventory;
  auto const before = inventory.version();
  inventory.add_module(module_of("kernel", sass::ffma));
  CHECK(inventory.version() != before);
}
