// SPDX-License-Identifier: Apache-2.0
// What is told of the arguments of a launch: values, not pointers, and only as many bytes as the
// driver says they have.
#include "guest/counters/launches/signatures/launch_arguments.hpp"

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

std::vector<std::size_t> sizes_of_function, sizes_of_kernel;
std::atomic<int> asked = 0;

CUresult tell(std::vector<std::size_t> const& sizes, std::size_t index, std::size_t* size) {
  ++asked;
  if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *size = sizes[index];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI function_info(CUfunction, std::size_t index, std::size_t*, std::size_t* size) {
  return tell(sizes_of_function, index, size);
}
CUresult CUDAAPI kernel_info(CUkernel, std::size_t index, std::size_t*, std::size_t* size) {
  return tell(sizes_of_kernel, index, size);
}

cuda_driver driver_that_tells() {
  cuda_driver driver;
  driver.cuFuncGetParamInfo = function_info;
  driver.cuKernelGetParamInfo = kernel_info;
  sizes_of_function = {8, 4, 8};
  sizes_of_kernel = {};
  asked = 0;
  return driver;
}

cuda_driver driver_that_tells_of_two() {
  auto const driver = driver_that_tells();
  sizes_of_function = {8, 4};
  return driver;
}

struct call {
  std::uint64_t pointer = 0x7f12'3456'7800;
  int count = 1000;
  std::uint64_t stride = 4096;
  std::array<void*, 3> arguments{&pointer, &count, &stride};
  launch_parameters launch(std::uintptr_t function = 64) {
    launch_parameters made;
    made.work = reinterpret_cast<void const*>(function);
    made.arguments = arguments.data();
    return made;
  }
};

}  // namespace

TEST_CASE("argument values distinguish launches, pointers do not") {
  launch_arguments arguments(driver_that_tells());
  call one, moved, longer, wider;
  moved.pointer = 0x7fff'0000'1234;
  longer.count = 1001;
  wider.stride = 4097;
  auto const print = arguments.fingerprint(one.launch());
  CHECK(print > 1);
  CHECK(arguments.fingerprint(moved.launch()) == print);
  CHECK(arguments.fingerprint(longer.launch()) != print);
  CHECK(arguments.fingerprint(wider.launch()) != print);
  CHECK(arguments.fingerprint(one.launch()) == print);
}

TEST_CASE("argument words that look like pointers are skipped") {
  for (std::uint64_t const word :
       {0x7fff'1234'5678u, 0x7f00'0000'0008u, 0x55d0'1234'5670u, 0x3'0200'0100u}) {
    argument_hash with, without;
    with.add(&word, 8);
    std::uint64_t const other = 0x7f77'0000'0000u;
    without.add(&other, 8);
    CHECK(with.folded() == without.folded());
  }
  for (std::uint64_t const word : {std::uint64_t{4096}, std::uint64_t{1} << 31, 0x1000'0000'1000u,
                                   0x3ff0'0000'0000'0000u, ~std::uint64_t{0}}) {
    argument_hash with, without;
    with.add(&word, 8);
    std::uint64_t const other = word + 1;
    without.add(&other, 8);
    CHECK(with.folded() != without.folded());
  }
}

TEST_CASE("the driver is asked once for each function, and again when code was unloaded") {
  launch_arguments arguments(driver_that_tells());
  call one;
  auto const print = arguments.fingerprint(one.launch());
  int const once = asked;
  CHECK(arguments.fingerprint(one.launch()) == print);
  CHECK(asked == once);
  (void)arguments.fingerprint(one.launch(128));
  CHECK(asked > once);
  // The same handle is another function now, with fewer arguments: the third is not looked at.
  arguments.forget();
  auto const of_two = launch_arguments(driver_that_tells_of_two()).fingerprint(one.launch());
  CHECK(of_two != print);
  CHECK(arguments.fingerprint(one.launch()) == of_two);
}

TEST_CASE("functions beyond the capacity are asked for again, and still distinguished") {
  launch_arguments arguments(driver_that_tells());
  call one, longer;
  longer.count = 1001;
  constexpr std::uintptr_t functions = 3 * launch_arguments::max_functions;
  auto const handle = [](std::uintptr_t i) { return 0x5500'0000'0000 + 64 * i; };
  auto const print = arguments.fingerprint(one.launch());
  for (std::uintptr_t i = 0; i < functions; ++i)
    REQUIRE(arguments.fingerprint(one.launch(handle(i))) == print);
  int const before = asked;
  for (std::uintptr_t i = 0; i < functions; ++i)
    REQUIRE(arguments.fingerprint(longer.launch(handle(i))) != print);
  CHECK(asked > before);
  // Of the functions of now, once those of before were unloaded.
  arguments.forget();
  (void)arguments.fingerprint(one.launch(handle(functions)));
  int const once = asked;
  (void)arguments.fingerprint(one.launch(handle(functions)));
  CHECK(asked == once);
}

TEST_CASE("handles that are not heap addresses are asked for each time") {
  launch_arguments arguments(driver_that_tells());
  call one, longer;
  longer.count = 1001;
  for (std::uintptr_t const odd : {std::uintptr_t{7}, std::uintptr_t{0xffff'8000'0000'0000}})
    CHECK(arguments.fingerprint(one.launch(odd)) != arguments.fingerprint(longer.launch(odd)));
}

TEST_CASE("threads that read while code is unloaded always use the right argument sizes") {
  launch_arguments arguments(driver_that_tells());
  call one;
  auto const print = arguments.fingerprint(one.launch());
  std::atomic<bool> ends{false};
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&] {
      call own;
      for (std::uintptr_t i = 0; !ends; ++i)
        wrong += arguments.fingerprint(own.launch(64 + 64 * (i % 40'000))) != print;
    });
  }
  for (int times = 0; times < 200; ++times) arguments.forget();
  ends = true;
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("launches by kernel handle, as of the runtime, use another driver function") {
  launch_arguments arguments(driver_that_tells());
  sizes_of_function = {};
  sizes_of_kernel = {8, 4, 8};
  call one, longer;
  longer.count = 1001;
  CHECK(arguments.fingerprint(one.launch()) != arguments.fingerprint(longer.launch()));
}

TEST_CASE("an old driver gives no argument sizes, and all launches are equal") {
  launch_arguments arguments{cuda_driver{}};
  call one, longer;
  longer.count = 1001;
  CHECK(arguments.fingerprint(one.launch()) == 0);
  CHECK(arguments.fingerprint(longer.launch()) == 0);
}

TEST_CASE("arguments may be passed in one buffer") {
  launch_arguments arguments(driver_that_tells());
  std::array<std::uint32_t, 3> values{1, 2, 3};
  std::size_t bytes = sizeof values;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, values.data(),
                             CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  launch_parameters launch;
  launch.argument_buffer = extra.data();
  auto const print = arguments.fingerprint(launch);
  CHECK(print > 1);
  values[2] = 4;
  CHECK(arguments.fingerprint(launch) != print);
  CHECK(asked == 0);
  CHECK(arguments.fingerprint(launch_parameters{}) == 0);
}

TEST_CASE("before a call only readable memory is read, and the driver is not asked") {
  launch_arguments arguments(driver_that_tells());
  call good;
  auto const nothing = reinterpret_cast<void**>(std::uintptr_t{16});
  auto const before = [&](auto const& change) {
    auto launch = good.launch();
    change(launch);
    return arguments.fingerprint_before(launch);
  };
  CHECK(before([](auto&) {}) == 0);  // its function may not exist
  CHECK(asked == 0);
  auto const print = arguments.fingerprint(good.launch());
  auto const once = asked.load();
  CHECK(before([](auto&) {}) == print);
  CHECK(before([&](auto& launch) { launch.arguments = nothing; }) == 0);
  good.arguments[1] = nothing;
  CHECK(before([](auto&) {}) == 0);
  auto const with_buffer = [&](void** description) {
    return before([&](auto& launch) {
      launch.arguments = nullptr;
      launch.argument_buffer = description;
    });
  };
  std::size_t bytes = sizeof good.stride;
  std::array<void*, 5> described{CU_LAUNCH_PARAM_BUFFER_POINTER, &good.stride,
                                 CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CHECK(with_buffer(described.data()) != 0);
  CHECK(with_buffer(nothing) == 0);
  described[1] = nothing;
  CHECK(with_buffer(described.data()) == 0);
  described[1] = &good.stride;
  described[3] = nothing;
  CHECK(with_buffer(described.data()) == 0);
  // No end: what follows is described again and again.
  std::array<void*, 64> endless;
  for (std::size_t i = 0; i < endless.size(); i += 2) {
    endless[i] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    endless[i + 1] = &good.stride;
  }
  CHECK(with_buffer(endless.data()) == 0);
  // Code was unloaded: the handle may be no function any more.
  arguments.forget();
  good.arguments[1] = &good.count;
  CHECK(before([](auto&) {}) == 0);
  CHECK(asked == once);
}
