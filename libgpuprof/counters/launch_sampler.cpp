#include "counters/launch_sampler.hpp"

#include "base/clock.hpp"
#include "counters/counter_access.hpp"
#include "counters/metric_sets.hpp"
#include "cupti/chip_name.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

namespace gpuprof {
namespace {

// A kind of launch is read again after so many: the work behind equal launches may change.
constexpr std::uint32_t again_after = 1000;
// A launch that takes longer is not waited for: it may wait for something the program does next.
constexpr std::uint64_t most_wait_ns = 2'000'000'000;

// A launch is not read so soon after one on the skip list, which may wait for other GPUs.
constexpr std::uint64_t after_skipped_ns = 10'000'000;
// Before a range is opened, what was launched is waited for, since CUPTI waits then. A queue holds
// a thousand launches. When it does not run dry, it may wait for the program: no reading for a
// while.
constexpr std::uint64_t wait_before_ns = 2'000'000'000;
constexpr std::uint64_t pause_after_busy_ns = 30'000'000'000;
// After so many wrong guesses at what a thread launches next, no more are made after that launch.
constexpr unsigned most_misses = 3;
// Planning takes half a second, more on a machine that has much else to do.
constexpr std::uint64_t wait_for_first_ns = 10'000'000'000;
constexpr std::size_t most_passes = 63;  // of a reading, see sampled_context::pass_number_
constexpr std::uint64_t patience_with_rewriting = 4;  // readings

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
                               sampler_wishes wishes)
    : api_(api),
      driver_(driver),
      wishes_(std::move(wishes)),
      budget_(wishes_.every_launch ? 0 : wishes_.budget_percent) {}

void launch_sampler::resume() noexcept {
  if (given_up_.load(std::memory_order_relaxed)) return;
  budget_.begin(monotonic_ns());
  captures_.store(0, std::memory_order_relaxed);  // what began before was not seen
  on_.store(true, std::memory_order_release);
}

void launch_sampler::pause() noexcept {
  on_.store(false, std::memory_order_release);
  budget_.end(monotonic_ns());
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
  captures_.fetch_add(1, std::memory_order_seq_cst);
  // A launch being read ends with a wait for the GPU, which a capture of any thread forbids.
  for (auto const& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (take_claim(*context, most_wait_ns)) context->release();
  }
}

void launch_sampler::capture_ends() noexcept {
  auto under_way = captures_.load(std::memory_order_relaxed);
  while (under_way > 0 && !captures_.compare_exchange_weak(under_way, under_way - 1)) {
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
  last_skipped_.store(monotonic_ns(), std::memory_order_relaxed);
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

/// No capture is under way that a wait for the GPU would break, and no kernel that waits for
/// others.
bool launch_sampler::is_safe(CUstream stream) noexcept {
  if (driver_.cuStreamIsCapturing == nullptr || driver_.cuStreamQuery == nullptr) return false;
  CUstreamCaptureStatus status{};
  if (captures_.load(std::memory_order_seq_cst) != 0 ||
      driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_NONE) {
    count(counts_.capturing);
    return false;
  }
  auto const skipped = last_skipped_.load(std::memory_order_relaxed);
  if (skipped != 0 && monotonic_ns() - skipped < after_skipped_ns) {
    count(counts_.beside_skipped);
    return false;
  }
  return true;
}

bool launch_sampler::has_run_dry(CUstream stream, std::uint64_t patience_ns) noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  while (driver_.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
    if (monotonic_ns() > deadline) return false;
  return true;
}

/// Around every launch means around the first, too.
void launch_sampler::wait_until_prepared(sampled_context& context) noexcept {
  auto const deadline = monotonic_ns() + wait_for_first_ns;
  while (!context.is_prepared() && !given_up_.load(std::memory_order_relaxed) &&
         captures_.load(std::memory_order_relaxed) == 0 && monotonic_ns() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void launch_sampler::wait_for_change(sampled_context& context) noexcept {
  auto const deadline = monotonic_ns() + most_wait_ns;
  while (context.is_changing()) {
    if (monotonic_ns() > deadline) return stop_for_good();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Otherwise the worker does it, some milliseconds later.
void launch_sampler::make_room(sampled_context& context) noexcept {
  std::vector<sampled_context::batch> finished;
  try {
    auto const turned = context.turn_claimed(false, false, finished);
    if (!turned) on_.store(false, std::memory_order_release);
  } catch (...) {
    on_.store(false, std::memory_order_release);
  }
  keep(context, std::move(finished));
}

void launch_sampler::keep(sampled_context& context,
                          std::vector<sampled_context::batch> finished) noexcept {
  while (ended_claim_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  try {
    for (auto& batch : finished) ended_.emplace_back(&context, std::move(batch));
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
  if (safe && wishes_.every_launch && !context.has_room()) make_room(context);
  if (safe && context.has_room() && context.wants(signature)) {
    if (has_run_dry(stream, wait_before_ns)) {
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
  // Its end was not heard of: callbacks were off in between.
  if (auto* const stale = std::exchange(here.open, nullptr)) {
    stale->close_range(nullptr, {});
    stale->release();
  }
  if (!on_.load(std::memory_order_acquire)) return;
  auto const seen = launches_seen_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!choose(kind, call, seen)) drop_ahead();
}

/// False: whatever this launches is not what a range was opened for.
bool launch_sampler::choose(launch_call_kind kind, CUpti_CallbackData const& call,
                            std::uint32_t seen) noexcept {
  if (kind.call == launch_call::none) return false;  // a graph
  launch_parameters launch;
  if (!read_launch_parameters(kind, call, launch) || launch.cooperative ||
      launch.function == nullptr) {
    count(counts_.cooperative);
    return false;
  }
  auto* const signature = signature_of(launch, call);
  if (signature == nullptr) return false;
  auto* const context = context_of(call);
  if (context == nullptr) return false;
  if (wishes_.every_launch && !context->is_prepared()) wait_until_prepared(*context);
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

/// Nothing is read any more in this process.
void launch_sampler::stop_for_good() noexcept {
  on_.store(false, std::memory_order_release);
  given_up_.store(true, std::memory_order_release);
}

void launch_sampler::left(CUpti_CallbackData const& call) noexcept {
  auto* const signature = std::exchange(here.launching, nullptr);
  if (auto* const context = std::exchange(here.open, nullptr)) {
    auto const* const status = static_cast<int const*>(call.functionReturnValue);
    auto const failed = status != nullptr && *status != 0;
    // Not inside CUPTI: a kernel that waits for what this thread does next would never end.
    if (!failed && !has_run_dry(here.stream, most_wait_ns)) {
      // The range stays open, and the context claimed: nothing more is read.
      count(counts_.abandoned);
      context->is_stuck(true);
      return stop_for_good();
    }
    auto const before = monotonic_ns();
    // Another thread has launched meanwhile: it was counted, too.
    auto const alone = launches_seen_.load(std::memory_order_relaxed) == here.seen;
    auto const kept = context->close_range(failed || !alone ? nullptr : signature,
                                           static_cast<correlation_id>(call.correlationId));
    count(kept ? counts_.sampled : alone ? counts_.failed : counts_.missed);
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
  here.seen = launches_seen_.load(std::memory_order_relaxed);
  context->leave_ahead();
}

// Which context a call destroys is not known here: all are given back. Where another launch comes,
// its context was not the one, and is prepared again.
void launch_sampler::context_ending(CUcontext) noexcept {
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
    return stop_for_good();
  }
  std::vector<sampled_context::batch> finished;
  context.end(finished, for_good);
  context.release();
  keep(context, std::move(finished));
}

// Drain thread ---------------------------------------------------------------

void launch_sampler::give_up(std::string why) {
  on_.store(false, std::memory_order_release);
  if (!given_up_.exchange(true)) complaints_.push_back(std::move(why));
}

std::vector<std::string> launch_sampler::take_complaints() {
  return std::exchange(complaints_, {});
}

launch_sampler::device_plan* launch_sampler::plan_for(
    sampled_context& context, std::vector<metric_record>& metrics,
    std::function<name_id(std::string const&)> const& intern) {
  auto const device = static_cast<int>(raw(context.device()));
  auto const before = monotonic_ns();
  struct changing {
    sampled_context& context;
    explicit changing(sampled_context& c) : context(c) { context.is_changing(true); }
    ~changing() { context.is_changing(false); }
  };
  std::optional<changing> change(std::in_place, context);
  auto const opened = open_counters(api_, device);
  auto const found = plans_.find(context.device());
  auto availability = opened && found == plans_.end()
                          ? counter_availability(api_, context.handle())
                          : result<std::vector<std::uint8_t>>(std::vector<std::uint8_t>());
  change.reset();
  budget_.spend(monotonic_ns() - before);
  if (!opened) return give_up(opened.message()), nullptr;
  if (found != plans_.end()) return &found->second;
  if (!availability) return give_up(availability.message()), nullptr;
  auto const chip = chip_name(api_, static_cast<std::size_t>(device));
  auto const words = wishes_.words.empty() ? std::vector<std::string>{"roofline"} : wishes_.words;
  auto const chosen = chosen_metrics(words, chip);
  if (!chosen) return give_up("counters are off: " + chosen.message()), nullptr;
  auto const plan = plan_passes(api_, {chip, *chosen, *availability, {}, {}});
  if (!plan) return give_up(plan.message()), nullptr;
  for (auto const& metric : plan->unusable)
    complaints_.push_back(metric.name + " is not read: " + metric.reason +
                          (metric.nearest.empty() ? "" : "; " + metric.nearest + " is near"));
  auto evaluator = host_profiler::open(api_, counter_engine::ranges, chip, *availability);
  if (!evaluator) return give_up(evaluator.message()), nullptr;

  auto groups = groups_of(*evaluator, *plan);
  if (!groups) return give_up(groups.message()), nullptr;
  device_plan made;
  made.evaluator = std::make_unique<host_profiler>(std::move(*evaluator));
  made.groups = std::move(*groups);
  for (std::size_t number = 0; number < made.groups.size(); ++number) {
    auto const& group = made.groups[number];
    auto& ids = made.ids.emplace_back();
    for (auto const& name : group.metrics) {
      ids.push_back(static_cast<metric_id>(next_metric_++));
      metrics.push_back({ids.back(), intern(name), context.device(),
                         static_cast<std::uint16_t>(number), group.patches_kernels});
    }
  }
  return &plans_.emplace(context.device(), std::move(made)).first->second;
}

/// All that can be counted together is one group, of as many passes as it takes: another pass comes
/// cheaper than another group. Around every launch runs the first pass alone.
result<std::vector<prepared_group>> launch_sampler::groups_of(host_profiler const& chip,
                                                              pass_plan const& plan) {
  std::vector<prepared_group> groups;
  std::size_t left_out = 0;
  for (auto const& planned : plan.launches) {
    if (wishes_.every_launch && (!groups.empty() || planned.passes != 1)) {
      left_out += planned.metrics.size();
      continue;
    }
    auto joined = false;
    for (auto& group : groups) {
      if (group.patches_kernels != planned.patches_kernel) continue;
      auto together = group.metrics;
      together.insert(together.end(), planned.metrics.begin(), planned.metrics.end());
      auto configuration = chip.configure(together);
      if (!configuration) return error{configuration.message()};
      if (configuration->passes == 0 || configuration->passes > most_passes) continue;
      group.metrics = std::move(together);
      group.configuration = std::move(*configuration);
      joined = true;
      break;
    }
    if (joined || groups.size() == launch_signature::most_groups) continue;
    auto configuration = chip.configure(planned.metrics);
    if (!configuration) return error{configuration.message()};
    if (configuration->passes > most_passes) {
      left_out += planned.metrics.size();
      continue;
    }
    groups.push_back({planned.metrics, std::move(*configuration), planned.patches_kernel});
  }
  if (groups.empty())
    return error{"counters are off: nothing of what was asked for can be counted on this GPU"};
  if (left_out != 0)
    complaints_.push_back(
        std::to_string(left_out) +
        " metrics are not read: around every launch one pass runs. --metrics auto "
        "reads them all");
  return groups;
}

/// They would cost the program time for nothing.
void launch_sampler::leave_out_patches(device_plan const& plan) {
  launch_signature::groups patching = 0;
  for (std::size_t i = 0; i < plan.groups.size(); ++i)
    if (plan.groups[i].patches_kernels) patching |= launch_signature::groups{1} << i;
  left_out_ |= patching;
  if ((all_groups_.fetch_and(~patching) & patching) == 0) return;
  some_patch_.store(false);
  complaints_.push_back(
      "operations of CUDA cores are not counted: CUPTI does not rewrite the kernels of this "
      "program. All other counters are read");
}

void launch_sampler::evaluate(device_plan const& plan, sampled_context::batch const& batch,
                              std::vector<launch_counters>& launches) {
  auto const& group = plan.groups[batch.group];
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i) {
    auto const range = std::strtoul(batch.counted.names[i].c_str(), nullptr, 10);
    if (range >= batch.readings.size() || batch.readings[range].empty()) continue;
    auto const values = plan.evaluator->evaluate(batch.counted.image, i, group.metrics);
    if (!values) {
      complaints_.push_back("counters of some launches are lost: " + values.message());
      return;
    }
    // A kernel without a single instruction was not rewritten: CUPTI ran it as it was.
    if (group.patches_kernels &&
        std::all_of(values->begin(), values->end(), [](double v) { return !(v > 0); })) {
      count(counts_.not_rewritten);
      if (!some_were_rewritten_ && counts_.not_rewritten.load() >= patience_with_rewriting)
        leave_out_patches(plan);
      continue;
    }
    some_were_rewritten_ = some_were_rewritten_ || group.patches_kernels;
    launch_counters counters{batch.readings[range], {}};
    for (std::size_t m = 0; m < values->size(); ++m) {
      // A pass that found no launch leaves no number.
      if (std::isfinite((*values)[m]))
        counters.values.emplace_back(plan.ids[batch.group][m], (*values)[m]);
    }
    launches.push_back(std::move(counters));
  }
}

void launch_sampler::turn(bool closing, std::vector<metric_record>& metrics,
                          std::vector<launch_counters>& launches,
                          std::function<name_id(std::string const&)> const& intern) {
  for (auto& entry : contexts_) {
    if (!closing && !on_.load(std::memory_order_acquire)) break;
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (!context->is_prepared() && !context->has_ended() && !closing && !given_up_.load() &&
        captures_.load() == 0 && context->claim()) {
      struct at_end {
        sampled_context& context;
        ~at_end() { context.release(); }
      } const released{*context};
      if (context->has_ended()) continue;
      if (auto* const plan = plan_for(*context, metrics, intern)) {
        auto const before = monotonic_ns();
        if (auto const ok = context->prepare(api_, plan->groups); !ok) give_up(ok.message());
        budget_.spend(monotonic_ns() - before);
        auto const all =
            static_cast<launch_signature::groups>((std::uint64_t{1} << plan->groups.size()) - 1);
        all_groups_.store(all & ~left_out_);
        some_patch_.store(left_out_ == 0 &&
                          std::any_of(plan->groups.begin(), plan->groups.end(),
                                      [](auto const& group) { return group.patches_kernels; }));
      }
    }
    std::vector<sampled_context::batch> finished;
    auto const before = monotonic_ns();
    if (captures_.load() != 0 && !closing) continue;
    auto const turned = context->turn(closing, budget_.allows(before), finished);
    // Most turns look and go; those that switch take milliseconds.
    budget_.spend(monotonic_ns() - before);
    if (!turned) give_up("counters are off from here on: " + turned.message());
    for (auto const& batch : finished) evaluate(plans_[context->device()], batch, launches);
  }
  while (ended_claim_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  auto ended = std::exchange(ended_, {});
  ended_claim_.clear(std::memory_order_release);
  for (auto const& [context, batch] : ended) evaluate(plans_[context->device()], batch, launches);
}

}  // namespace gpuprof
