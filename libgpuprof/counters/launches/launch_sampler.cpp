#include "counters/launches/launch_sampler.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

// A kind of launch is read again after so many: the work behind equal launches may change.
constexpr std::uint32_t again_after = 1000;
// A launch that takes longer is not waited for: it may wait for something the program does next.
constexpr std::uint64_t most_wait_ns = 2'000'000'000;

// Before a range is opened, what was launched is waited for, since CUPTI waits then. A queue holds
// a thousand launches. When it does not run dry, it may wait for the program: no reading for a
// while.
constexpr std::uint64_t wait_before_ns = 2'000'000'000;
constexpr std::uint64_t pause_after_busy_ns = 30'000'000'000;
// After so many wrong guesses at what a thread launches next, no more are made after that launch.
constexpr unsigned most_misses = 3;
// Planning takes half a second, more on a machine that has much else to do.
constexpr std::uint64_t wait_for_first_ns = 10'000'000'000;

/// What this thread is about to launch or has just launched. Initial-exec: no call to find it.
struct state_of_thread {
  launch_signature* launching = nullptr;  // null: of no interest
  launch_signature* launched = nullptr;   // the one before
  CUstream stream = nullptr;
  sampled_context* open = nullptr;   // a range is open around this launch
  sampled_context* ahead = nullptr;  // one was opened for the next launch
  launch_signature* ahead_for = nullptr;
  std::uint32_t seen = 0;  // launches of the process up to this one, when a range is open
  launch_signature* ahead_since = nullptr;  // opened when this one had been launched
};
constinit thread_local state_of_thread here __attribute__((tls_model("initial-exec")));

void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

launch_sampler::launch_sampler(cupti_api const& api, cuda_driver const& driver,
                               sampler_wishes wishes, sampling_budget& budget,
                               std::uint32_t& next_metric, std::atomic<bool> const& halted)
    : api_(api),
      wishes_(std::move(wishes)),
      budget_(budget),
      safety_(driver),
      halted_(halted),
      next_metric_(next_metric) {}

void launch_sampler::resume() noexcept {
  if (given_up_.load(std::memory_order_relaxed)) return;
  on_.store(true, std::memory_order_release);
}

namespace {

/// Waits for the claim, but not for a range that is open ahead: that is given up.
bool take_claim(sampled_context& context, std::uint64_t patience_ns) noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  while (!context.claim()) {
    if (context.is_stuck()) return false;
    if (context.take_over_ahead()) {
      context.close_range(nullptr, {});
      return true;
    }
    if (monotonic_ns() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace

void launch_sampler::capture_begins() noexcept {
  safety_.capture_begins();
  if (halted_.load()) return;
  // A launch being read ends with a wait for the GPU, which a capture of any thread forbids.
  for (auto const& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (take_claim(*context, most_wait_ns)) context->release();
  }
}

sampled_context* launch_sampler::context_of(CUpti_CallbackData const& call) noexcept {
  for (auto& entry : contexts_) {
    auto* known = entry.load(std::memory_order_acquire);
    if (known == nullptr) {
      std::uint32_t device = 0;
      if (api_.cuptiGetDeviceId == nullptr ||
          api_.cuptiGetDeviceId(call.context, &device) != CUPTI_SUCCESS)
        return nullptr;
      auto* const made =
          new (std::nothrow) sampled_context(call.context, static_cast<context_id>(call.contextUid),
                                             static_cast<device_id>(device), wishes_.every_launch);
      if (made == nullptr) return nullptr;
      if (entry.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
      delete made;
    }
    if (!known->is(call.context, call.contextUid)) continue;
    // It may be the one that is being destroyed.
    if (known->has_ended() && safety_.is_ending_context()) return nullptr;
    if (known->has_ended()) known->revive();
    return known;
  }
  return nullptr;
}

/// Null: never to be read.
launch_signature* launch_sampler::signature_of(launch_parameters const& launch,
                                               CUpti_CallbackData const& call) noexcept {
  auto* const signature = signatures_.find(launch, call.contextUid);
  if (signature == nullptr) {
    count(counts_.unknown);
    return nullptr;
  }
  using enum launch_signature::standing;
  if (signature->is() == unknown) {
    auto skip = false;
    try {
      skip = wishes_.skips && call.symbolName != nullptr && wishes_.skips(call.symbolName);
    } catch (...) {
      skip = true;
    }
    signature->decide(skip ? never : allowed);
  }
  if (signature->is() == allowed) return signature;
  safety_.note_skipped(monotonic_ns());
  count(counts_.by_name);
  return nullptr;
}

launch_signature::groups launch_sampler::missing(launch_signature& signature) noexcept {
  auto const all = all_groups_.load(std::memory_order_relaxed);
  if (wishes_.every_launch) return all;
  auto const due = signature.count_launch() % again_after == again_after - 1;
  if (due && (all & ~signature.done()) == 0) signature.begin_again();
  return all & ~signature.done();
}

bool launch_sampler::is_safe(CUstream stream) noexcept {
  if (!safety_.may_wait(stream)) {
    count(counts_.capturing);
    return false;
  }
  if (!safety_.follows_skipped(monotonic_ns())) return true;
  count(counts_.beside_skipped);
  return false;
}

/// Around every launch means around the first, too.
void launch_sampler::wait_until_counting(sampled_context& context) noexcept {
  auto const deadline = monotonic_ns() + wait_for_first_ns;
  context.note_want(~launch_signature::groups{0});
  while (context.group() < 0 && on_.load(std::memory_order_acquire) &&
         !given_up_.load(std::memory_order_relaxed) && !must_not_switch() &&
         monotonic_ns() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void launch_sampler::wait_for_change(sampled_context& context) noexcept {
  auto const deadline = monotonic_ns() + most_wait_ns;
  while (context.is_changing()) {
    if (halted_.load()) return;
    if (monotonic_ns() > deadline) return stop_for_good("a pass did not end in two seconds");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Otherwise the worker does it, some milliseconds later, when there may be a long queue to wait
/// for. With the claim.
void launch_sampler::turn_at_once(sampled_context& context) noexcept {
  std::vector<sampled_context::batch> finished;
  std::string failure;
  try {
    auto const turned = context.turn_claimed(false, false, finished);
    if (!turned) failure = turned.message();
  } catch (...) {
    on_.store(false, std::memory_order_release);
  }
  keep(context, std::move(finished), std::move(failure));
}

void launch_sampler::keep(sampled_context& context, std::vector<sampled_context::batch> finished,
                          std::string failure) noexcept {
  if (!failure.empty()) on_.store(false, std::memory_order_release);
  while (ended_claim_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  try {
    for (auto& batch : finished) ended_.emplace_back(&context, std::move(batch));
    if (!failure.empty()) failure_ = std::move(failure);
  } catch (...) {  // lost for want of memory
  }
  ended_claim_.clear(std::memory_order_release);
}

/// With the claim when it says true.
bool launch_sampler::open(sampled_context& context, launch_signature& signature,
                          CUstream stream) noexcept {
  auto const now = monotonic_ns();
  if (!budget_.allows(now)) {
    count(counts_.over_budget);
    return false;
  }
  if (now < not_before_.load(std::memory_order_relaxed)) {
    count(counts_.busy);
    return false;
  }
  if (!(wishes_.every_launch ? take_claim(context, most_wait_ns) : context.claim())) {
    count(counts_.in_use);
    return false;
  }
  // After the claim: a capture that begins now waits for it.
  auto opened = false;
  auto const safe = is_safe(stream);
  if (safe && wishes_.every_launch && !context.has_room()) turn_at_once(context);
  if (safe && context.has_room() && context.wants(signature)) {
    auto const dry = safety_.has_run_dry(stream, wait_before_ns);
    if (!on_.load(std::memory_order_acquire)) {
      // The capture has ended meanwhile.
    } else if (dry) {
      auto const before = monotonic_ns();
      opened = context.open_range(signature);
      budget_.spend(monotonic_ns() - before);
      if (!opened) count(counts_.failed);
    } else {
      count(counts_.busy);
      not_before_.store(monotonic_ns() + pause_after_busy_ns, std::memory_order_relaxed);
    }
  }
  if (!opened) context.release();
  return opened;
}

/// What was opened ahead goes on when this is the launch it was opened for.
bool launch_sampler::goes_on_ahead(sampled_context* context, launch_signature& signature) noexcept {
  auto* const ahead = std::exchange(here.ahead, nullptr);
  if (ahead == nullptr || !ahead->take_over_ahead()) return false;
  auto const expected = here.ahead_for == &signature;
  if (here.ahead_since != nullptr) here.ahead_since->note_miss(!expected);
  if (ahead == context && (expected || ahead->retarget(signature))) {
    here.open = ahead;
    ++here.seen;  // this launch
    return true;
  }
  count(counts_.missed);
  ahead->close_range(nullptr, {});
  ahead->release();
  return false;
}

void launch_sampler::entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  here.launching = nullptr;
  if (halted_.load(std::memory_order_relaxed)) return;
  // Its end was not heard of: callbacks were off in between.
  if (auto* const stale = std::exchange(here.open, nullptr)) {
    stale->close_range(nullptr, {});
    stale->release();
  }
  if (!on_.load(std::memory_order_acquire)) return;
  if (!choose(kind, call)) drop_ahead();
}

/// False: whatever this launches is not what a range was opened for.
bool launch_sampler::choose(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  auto* const context = context_of(call);
  if (context == nullptr) return false;
  auto const seen = context->count_launch();
  launch_parameters launch;
  if (!read_launch_parameters(kind, call, launch) || launch.cooperative || launch.work == nullptr) {
    count(counts_.cooperative);
    return false;
  }
  auto const is_graph = kind.call == launch_call::graph;
  if (is_graph && (safety_.shuns_graphs() || knows_several_gpus())) {
    count(counts_.graphs);
    return false;
  }
  auto* const signature = signature_of(launch, call);
  if (signature == nullptr) return false;
  if (wishes_.every_launch && context->group() < 0) wait_until_counting(*context);
  if (context->is_changing()) wait_for_change(*context);
  here.launching = signature;
  here.stream = launch.stream;
  if (some_patch_.load(std::memory_order_relaxed)) {
    if (here.launched != nullptr) here.launched->is_followed_by(signature);
    here.launched = signature;
    if (goes_on_ahead(context, *signature)) return true;
  }
  auto const groups = missing(*signature);
  if (groups == 0) return true;
  auto const group = context->group();
  auto const current = group < 0 ? 0 : launch_signature::groups{1} << group;
  if ((groups & current) == 0 || !context->wants(*signature)) {
    context->note_want(groups);
  } else if (context->group_patches() && is_graph) {
    return true;  // its kernels were rewritten, or not, when it was made
  } else if (context->group_patches()) {
    if ((groups & ~current) != 0) context->note_want(groups & ~current);
  } else if (open(*context, *signature, launch.stream)) {
    here.open = context;
    here.seen = seen;
  }
  return true;
}

void launch_sampler::drop_ahead() noexcept {
  auto* const ahead = std::exchange(here.ahead, nullptr);
  if (ahead == nullptr || !ahead->take_over_ahead()) return;
  count(counts_.missed);
  ahead->close_range(nullptr, {});
  ahead->release();
}

/// A graph may hold kernels on several of them that wait for each other.
bool launch_sampler::knows_several_gpus() const noexcept {
  auto const* const first = contexts_[0].load(std::memory_order_acquire);
  for (auto const& entry : contexts_) {
    auto const* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (context->device() != first->device()) return true;
  }
  return false;
}

/// Nothing is read any more in this process.
void launch_sampler::stop_for_good(char const* why) noexcept {
  stopped_because_.store(why, std::memory_order_release);
  on_.store(false, std::memory_order_release);
  given_up_.store(true, std::memory_order_release);
}

void launch_sampler::left(CUpti_CallbackData const& call) noexcept {
  auto* const signature = std::exchange(here.launching, nullptr);
  if (halted_.load(std::memory_order_relaxed)) return;
  if (auto* const context = std::exchange(here.open, nullptr)) {
    auto const* const status = static_cast<int const*>(call.functionReturnValue);
    auto const failed = status != nullptr && *status != 0;
    // Not inside CUPTI: a kernel that waits for what this thread does next would never end.
    if (!failed && !safety_.has_run_dry(here.stream, most_wait_ns)) {
      // The range stays open, and the context claimed: nothing more is read.
      count(counts_.abandoned);
      context->is_stuck(true);
      return stop_for_good("a launch that was being read did not end in two seconds");
    }
    auto const before = monotonic_ns();
    // Another thread has launched meanwhile: it was counted, too.
    auto const alone = context->launches() == here.seen;
    auto const kept = context->close_range(failed || !alone ? nullptr : signature,
                                           static_cast<correlation_id>(call.correlationId));
    count(kept ? counts_.sampled : alone ? counts_.failed : counts_.missed);
    if (context->pass_is_full() && !safety_.is_capturing()) turn_at_once(*context);
    context->release();
    budget_.spend(monotonic_ns() - before);
  }
  if (signature != nullptr && some_patch_.load(std::memory_order_relaxed) &&
      on_.load(std::memory_order_acquire))
    open_ahead(*signature, here.stream, call);
}

// CUPTI has decided which code a launch runs before it calls us: the range of a group that rewrites
// kernels must be open before.
void launch_sampler::open_ahead(launch_signature& signature, CUstream stream,
                                CUpti_CallbackData const& call) noexcept {
  auto* const next = signature.successor();
  if (next == nullptr || signature.misses() >= most_misses) return;
  auto* const context = context_of(call);
  if (context == nullptr || !context->group_patches() || !context->wants(*next)) return;
  if (!open(*context, *next, stream)) return;
  here.ahead = context;
  here.ahead_for = next;
  here.ahead_since = &signature;
  here.seen = context->launches();
  context->leave_ahead();
}

// Which context a call destroys is not known here: all are given back. Where another launch comes,
// its context was not the one, and is prepared again.
void launch_sampler::context_ending() noexcept {
  safety_.context_ending();
  if (halted_.load()) return;
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) return;
    end(*context, true);
  }
}

void launch_sampler::end() noexcept {
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) return;
    end(*context, false);
  }
}

void launch_sampler::end(sampled_context& context, bool for_good) noexcept {
  if (!take_claim(context, most_wait_ns)) {
    count(counts_.abandoned);
    context.is_stuck(true);
    return stop_for_good("a launch that was being read did not end before its context");
  }
  std::vector<sampled_context::batch> finished;
  context.end(finished, for_good);
  context.release();
  keep(context, std::move(finished));
}

}  // namespace gpuprof
