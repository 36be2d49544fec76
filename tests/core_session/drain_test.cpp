// SPDX-License-Identifier: Apache-2.0
// The drain thread's rounds, with CUPTI played by the test.
#include "recording/drain.hpp"

#include "base/clock.hpp"
#include "support/catch.hpp"
#include "support/deaf_observer.hpp"
#include "support/fake_cupti.hpp"
#include "support/records.hpp"
#include "support/scratch_folder.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

/// A drain with room for few buffers, in an open capture window.
struct scene {
  static constexpr std::size_t buffer_bytes = 64 << 10;
  static constexpr std::size_t buffers = 8;

  explicit scene(std::string const& output)
      : callbacks(observer),
        tracer(cupti.library, budget, buffer_bytes, callbacks),
        filter(std::move(*kernel_filter::make(options))),
        rounds(options, budget, *filter, costs) {
    std::vector<std::string> warnings;
    REQUIRE(tracer.start({}, warnings));
    rounds.use_tracer(tracer);
    rounds.choose_output(output);
    rounds.post({true, 1, now(), "test"});
  }

  /// CUPTI's part: fills a buffer with kernels. False when it is given none.
  bool hand_over_a_buffer() {
    auto const [bytes, size] = cupti.request_buffer();
    if (bytes == nullptr) return false;
    std::size_t used = 0;
    for (; used + sizeof(CUpti_ActivityKernel10) <= size; used += sizeof(CUpti_ActivityKernel10)) {
      auto kernel = kernel_record_of("gemm", ++kernels, now().value);
      kernel.end = kernel.start + 100;
      std::memcpy(bytes + used, &kernel, sizeof kernel);
    }
    cupti.complete_buffer(bytes, size, used);
    return true;
  }

  fake_cupti cupti;
  deaf_observer observer;
  launch_callbacks callbacks;
  memory_budget budget{buffers * buffer_bytes};
  cupti_tracer tracer;
  settings options;
  std::unique_ptr<kernel_filter> filter;
  app_costs costs;
  drain rounds;
  std::uint32_t kernels = 0;
};

}  // namespace

TEST_CASE(
    "what a flush brings is decoded while it lasts, however much more than there is room for") {
  scratch_folder const folder;
  static auto& s =
      *new scene(folder / "capture");  // its flushing thread lives as long as the process
  constexpr unsigned many = 20 * scene::buffers;
  constexpr std::uint64_t patience_ns = 5'000'000'000;  // of a test that is going to fail
  std::atomic<unsigned> handed_over{0};
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    auto const deadline = monotonic_ns() + patience_ns;
    while (handed_over < many && monotonic_ns() < deadline) {
      if (s.hand_over_a_buffer())
        ++handed_over;
      else
        std::this_thread::yield();
    }
  });
  s.rounds.round(true);
  s.cupti.when_called("cuptiActivityFlushAll", [] {});
  CHECK(handed_over == many);
  // The last of them wait for their launches, half a second at most.
  auto const deadline = monotonic_ns() + 12 * patience_ns;
  while (s.rounds.totals().snapshot().kernel_count != s.kernels && monotonic_ns() < deadline)
    s.rounds.round(false);
  CHECK(s.rounds.totals().snapshot().kernel_count == s.kernels);
}
