// SPDX-License-Identifier: Apache-2.0
// How launch_reader ends on the worker's thread: what was counted is taken, counters are released.
#include "base/futex.hpp"
#include "base/time.hpp"
#include "guest/counters/launches/launch_reader.hpp"

#include <algorithm>
#include <utility>

namespace gpuprof::guest {
namespace {

// For so long an idle moment is hoped for that comes by itself; then calls are slowed down.
constexpr std::uint64_t hope_to_end_ns = 500'000'000;
constexpr std::uint64_t max_end_ns = 200'000'000;

}  // namespace

/// What was counted so far is taken, if the GPU is idle for a moment.
void launch_reader::close(context_readings& context) {
  if (!context.is_counting() || context.has_ended()) return;
  (void)idle_moments_.shut_when_idle(context.streams, options_.every_launch ? 0 : hope_to_end_ns,
                                     max_end_ns, [&] {
                                       context.drop_open_range();
                                       std::optional<reading_batch> done;
                                       auto const ok = context.finish(done);
                                       if (done)
                                         batches_.emplace_back(context.device(), std::move(*done));
                                       (void)ok;  // what cannot be had now is lost
                                     });
  gate_.open();
  budget_.spend(gate_.take_waited_ns());
}

bool launch_reader::release(std::uint64_t patience_ns) noexcept {
  auto all = true;
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr || halted_.load()) break;
    if (!context->holds_counters() || context->has_ended()) continue;
    auto const since = monotonic_ns();
    auto const hope = options_.every_launch ? 0 : hope_to_end_ns;
    auto const is_idle = idle_moments_.shut_when_idle(context->streams, hope, patience_ns, [&] {
      context->drop_open_range();
      context->release();
    });
    gate_.open();
    budget_.spend(gate_.take_waited_ns());
    all = all && is_idle;
    if (!is_idle) put_off_ns_ = std::max(put_off_ns_, monotonic_ns() - since);
  }
  return all;
}

/// A context is going: whichever it is, its counters go first, if it is idle.
void launch_reader::end_contexts() noexcept {
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr || halted_.load()) break;
    try {
      close(*context);
    } catch (...) {  // what was counted is lost for want of memory
    }
  }
  (void)release(max_end_ns);
  to_be_released_.store(0);
  futex_wake(to_be_released_);
}

}  // namespace gpuprof::guest
