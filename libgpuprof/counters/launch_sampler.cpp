#include "counters/launch_sampler.hpp"

#include "base/clock.hpp"
#include "counters/counter_access.hpp"
#include "counters/metric_sets.hpp"
#include "cupti/chip_name.hpp"

#include <bit>
#include <chrono>
#include <new>
#include <thread>

namespace gpuprof {
namespace {

// A kind of launch is read again after so many: the work behind equal launches may change.
constexpr std::uint32_t again_after = 1000;
// A launch that takes longer is not waited for: it may wait for something the program does next.
constexpr std::uint64_t most_wait_ns = 2'000'000'000;

/// The launch being read on this thread. Initial-exec: no call to find it.
struct open_on_this_thread {
  sampled_context* context = nullptr;
  CUstream stream = nullptr;
  std::uint64_t entered = 0;
};
constinit thread_local open_on_this_thread open_launch __attribute__((tls_model("initial-exec")));

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
  on_.store(true, std::memory_order_release);
}

void launch_sampler::pause() noexcept {
  on_.store(false, std::memory_order_release);
  budget_.end(monotonic_ns());
}

void launch_sampler::capture_begins() noexcept {
  captures_.fetch_add(1, std::memory_order_seq_cst);
  // A launch being read ends with a wait for the GPU, which a capture of any thread forbids.
  auto const deadline = monotonic_ns() + most_wait_ns;
  for (auto const& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    while (!context->claim()) {
      if (monotonic_ns() > deadline) return;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    context->release();
  }
}

void launch_sampler::capture_ends() noexcept {
  captures_.fetch_sub(1, std::memory_order_seq_cst);
}

sampled_context* launch_sampler::context_of(CUpti_CallbackData const& call) noexcept {
  for (auto& entry : contexts_) {
    auto* known = entry.load(std::memory_order_acquire);
    if (known == nullptr) {
      std::uint32_t device = 0;
      if (api_.cuptiGetDeviceId == nullptr ||
          api_.cuptiGetDeviceId(call.context, &device) != CUPTI_SUCCESS)
        return nullptr;
      auto* const made = new (std::nothrow) sampled_context(
          call.context, static_cast<context_id>(call.contextUid), static_cast<device_id>(device));
      if (made == nullptr) return nullptr;
      if (entry.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
      delete made;
    }
    if (known->handle() == call.context && !known->has_ended()) return known;
  }
  return nullptr;
}

launch_signature::groups launch_sampler::wanted(launch_signature& signature) noexcept {
  auto const all = all_groups_.load(std::memory_order_relaxed);
  auto const launches = signature.count_launch();
  if (wishes_.every_launch) return all;
  auto const missing = all & ~signature.done();
  // In turn: each time another group.
  if (missing == 0 && launches % again_after == 0 && all != 0) {
    auto const groups = static_cast<std::uint32_t>(std::popcount(all));
    return launch_signature::groups{1} << (launches / again_after % groups);
  }
  return missing;
}

bool launch_sampler::may_be_sampled(launch_signature& signature, CUpti_CallbackData const& call,
                                    launch_parameters const& launch) noexcept {
  using enum launch_signature::standing;
  if (signature.is() == unknown) {
    auto skip = false;
    try {
      skip = wishes_.skips && call.symbolName != nullptr && wishes_.skips(call.symbolName);
    } catch (...) {
      skip = true;
    }
    signature.decide(skip ? never : allowed);
  }
  return signature.is() != never && launch.function != nullptr;
}

bool launch_sampler::stream_is_free(CUstream stream) noexcept {
  if (driver_.cuStreamIsCapturing == nullptr || driver_.cuStreamQuery == nullptr) return false;
  CUstreamCaptureStatus status{};
  return driver_.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_NONE;
}

void launch_sampler::entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  if (on_.load(std::memory_order_acquire)) choose(kind, call);
}

bool launch_sampler::choose(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  launch_parameters launch;
  if (!read_launch_parameters(kind, call, launch) || launch.cooperative) {
    count(counts_.cooperative);
    return false;
  }
  auto* const signature = signatures_.find(launch);
  if (signature == nullptr) {
    count(counts_.unknown);
    return false;
  }
  if (!may_be_sampled(*signature, call, launch)) {
    skipped_stream_.store(launch.stream, std::memory_order_relaxed);
    skipped_may_run_.store(true, std::memory_order_relaxed);
    count(counts_.by_name);
    return false;
  }
  auto* const context = context_of(call);
  if (context == nullptr) return false;
  auto const groups = wanted(*signature);
  if (groups == 0) return false;
  auto const group = context->group();
  if (group < 0 || (groups >> group & 1) == 0) {
    context->note_want(groups);
    return false;
  }
  return open(*context, *signature, launch, call);
}

bool launch_sampler::open(sampled_context& context, launch_signature& signature,
                          launch_parameters const& launch,
                          CUpti_CallbackData const& call) noexcept {
  auto const entered = monotonic_ns();
  if (!budget_.allows(entered)) {
    count(counts_.over_budget);
    return false;
  }
  if (!context.claim()) {
    count(counts_.in_use);
    return false;
  }
  // After the claim: a capture that begins now waits for it.
  auto const capturing =
      captures_.load(std::memory_order_seq_cst) != 0 || !stream_is_free(launch.stream);
  if (capturing) count(counts_.capturing);
  auto skipped_runs = false;
  if (!capturing && skipped_may_run_.load(std::memory_order_relaxed)) {
    skipped_runs = driver_.cuStreamQuery(skipped_stream_.load(std::memory_order_relaxed)) ==
                   CUDA_ERROR_NOT_READY;
    if (skipped_runs)
      count(counts_.beside_skipped);
    else
      skipped_may_run_.store(false, std::memory_order_relaxed);
  }
  if (capturing || skipped_runs || context.group() < 0 ||
      !context.open_range(signature, static_cast<correlation_id>(call.correlationId))) {
    context.release();
    return false;
  }
  open_launch = {&context, launch.stream, entered};
  return true;
}

void launch_sampler::left(CUpti_CallbackData const& call) noexcept {
  auto const open = std::exchange(open_launch, {});
  if (open.context == nullptr) return;
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  auto const failed = status != nullptr && *status != 0;
  if (failed) open.context->drop_range();
  // Not inside CUPTI: a kernel that waits for what this thread does next would never end.
  auto const deadline = monotonic_ns() + most_wait_ns;
  auto abandoned = false;
  while (!failed && driver_.cuStreamQuery(open.stream) == CUDA_ERROR_NOT_READY) {
    if (monotonic_ns() < deadline) continue;
    abandoned = true;
    break;
  }
  if (abandoned) {
    // The range stays open, and the context claimed: nothing more is read in it.
    count(counts_.abandoned);
    on_.store(false, std::memory_order_release);
    given_up_.store(true, std::memory_order_release);
    return;
  }
  count(open.context->close_range() ? counts_.sampled : counts_.failed);
  open.context->release();
  budget_.spend(monotonic_ns() - open.entered);
}

// Which context a call destroys is known by its name only; of others on the device nothing is lost
// but time, since they are prepared again.
void launch_sampler::context_ending(CUcontext ending) noexcept {
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) return;
    end(*context, context->handle() == ending);
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
  auto const deadline = monotonic_ns() + most_wait_ns;
  while (!context.claim()) {
    if (monotonic_ns() > deadline) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::vector<sampled_context::batch> finished;
  context.end(finished, for_good);
  context.release();
  while (ended_claim_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  try {
    for (auto& batch : finished) ended_.emplace_back(&context, std::move(batch));
  } catch (...) {  // lost for want of memory
  }
  ended_claim_.clear(std::memory_order_release);
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
  if (auto const ok = open_counters(api_, device); !ok) return give_up(ok.message()), nullptr;
  auto const found = plans_.find(context.device());
  if (found != plans_.end()) return &found->second;
  auto availability = counter_availability(api_, context.handle());
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

  device_plan made;
  made.evaluator = std::make_unique<host_profiler>(std::move(*evaluator));
  for (auto const& group : plan->launches) {
    if (made.groups.size() == launch_signature::most_groups) break;
    auto configuration = made.evaluator->configure(group.metrics);
    if (!configuration) return give_up(configuration.message()), nullptr;
    auto const number = static_cast<std::uint16_t>(made.groups.size());
    auto& ids = made.ids.emplace_back();
    for (auto const& name : group.metrics) {
      ids.push_back(static_cast<metric_id>(next_metric_++));
      metrics.push_back({ids.back(), intern(name), context.device(), number, group.patches_kernel});
    }
    made.groups.push_back({group.metrics, std::move(*configuration)});
  }
  if (made.groups.empty()) {
    give_up("counters are off: nothing of what was asked for can be counted on this GPU");
    return nullptr;
  }
  return &plans_.emplace(context.device(), std::move(made)).first->second;
}

void launch_sampler::evaluate(device_plan const& plan, sampled_context::batch const& batch,
                              std::vector<launch_counters>& launches) {
  auto const& group = plan.groups[batch.group];
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i) {
    for (auto const& launch : batch.launches) {
      if (launch.name != batch.counted.names[i]) continue;
      auto const values = plan.evaluator->evaluate(batch.counted.image, i, group.metrics);
      if (!values) {
        complaints_.push_back("counters of a launch are lost: " + values.message());
        return;
      }
      launch_counters counters{launch.record, {}};
      for (std::size_t m = 0; m < values->size(); ++m)
        counters.values.emplace_back(plan.ids[batch.group][m], (*values)[m]);
      launches.push_back(std::move(counters));
    }
  }
}

void launch_sampler::turn(bool closing, std::vector<metric_record>& metrics,
                          std::vector<launch_counters>& launches,
                          std::function<name_id(std::string const&)> const& intern) {
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr) break;
    if (!context->is_prepared() && !context->has_ended() && !closing && !given_up_.load()) {
      if (auto* const plan = plan_for(*context, metrics, intern)) {
        auto const before = monotonic_ns();
        if (auto const ok = context->prepare(api_, plan->groups); !ok) give_up(ok.message());
        budget_.spend(monotonic_ns() - before);
        all_groups_.store(
            static_cast<launch_signature::groups>((std::uint64_t{1} << plan->groups.size()) - 1));
      }
    }
    std::vector<sampled_context::batch> finished;
    auto const before = monotonic_ns();
    auto const turned = context->turn(closing, finished);
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
