#include "counters/launches/launch_sampler.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

// A kind of launch is read again after so many, twice as many, and so on: the work behind equal
// launches may change.
constexpr std::uint32_t again_after = 1000;
// A launch that takes longer is not waited for: it may wait for something the program does next.
constexpr std::uint64_t most_wait_ns = 2'000'000'000;

// Before a range is opened, what was launched is waited for, since CUPTI waits then. A queue holds
// a thousand launches. When it does not run dry, it may wait for the program: no reading for a
// while.
constexpr std::uint64_t wait_before_ns = 2'000'000'000;
constexpr std::uint64_t most_wait_for_switch_ns = 1'000'000'000;
constexpr std::uint64_t pause_after_busy_ns = 30'000'000'000;
// Without kernel records a launch is read when so many came from this thread alone: those of other
// threads would go without records, too.
constexpr unsigned enough_alone = 8;
// Planning takes half a second, more on a machine that has much else to do.
constexpr std::uint64_t wait_for_first_ns = 10'000'000'000;

/// What this thread is about to launch or has just launched. Initial-exec: no call to find it.
struct state_of_thread {
  launch_signature* launching = nullptr;  // null: of no interest
  CUstream stream = nullptr;
  sampled_context* open = nullptr;  // a range is open around this launch
  timestamp_ns ran_from, ran_to;    // if it is read
  correlation_id alike{};           // may go unrecorded: this one tells what it runs
  bool is_pattern = false;          // others of its kind are going to be read without records
  std::uint32_t number = 0;         // of this launch, in the context
  std::uint32_t number_of_all = 0;  // in the process
  unsigned alone = 0;               // so many launches before it came from this thread
  std::uint32_t arguments = 0;      // as in kernel_shape
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
      kinds_(driver, wishes_.skips),
      records_(wishes_.pause_kernel_records, wishes_.resume_kernel_records),
      next_metric_(next_metric) {}

void launch_sampler::resume() noexcept {
  if (given_up_.load(std::memory_order_relaxed)) return;
  capture_.fetch_add(1, std::memory_order_relaxed);
  on_.store(true, std::memory_order_release);
}

namespace {

bool take_claim(sampled_context& context, std::uint64_t patience_ns) noexcept {
  auto const deadline = monotonic_ns() + patience_ns;
  while (!context.claim()) {
    if (context.is_stuck()) return false;
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
      auto* const made = new (std::nothrow)
          sampled_context(call.context, static_cast<context_id>(call.contextUid),
                          static_cast<device_id>(device), wishes_.every_launch, is_interrupted_);
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

/// Null: there are too many.
launch_signature* launch_sampler::kind_of(launch_parameters const& launch,
                                          CUpti_CallbackData const& call) noexcept {
  auto* const kind = kinds_.find(launch, call.contextUid);
  if (kind == nullptr) {
    count(counts_.unknown);
    return nullptr;
  }
  here.arguments = kind->arguments();
  return kind;
}

void launch_sampler::note_arguments(launch_call_kind kind,
                                    CUpti_CallbackData const& call) noexcept {
  launch_parameters launch;
  if (kind.call == launch_call::graph || !read_launch_parameters(kind, call, launch)) return;
  if (launch.work != nullptr) (void)kind_of(launch, call);
}

bool launch_sampler::may_be_read(launch_signature& kind, CUpti_CallbackData const& call) noexcept {
  if (kinds_.may_be_read(kind, call.symbolName)) return true;
  safety_.note_skipped(monotonic_ns());
  count(counts_.by_name);
  return false;
}

launch_signature::groups launch_sampler::missing(launch_signature& signature) noexcept {
  auto const all = all_groups_.load(std::memory_order_relaxed);
  if (wishes_.every_launch) return all;
  auto const seen = signature.count_launch();
  if (seen == 0) return 0;  // most kinds that come once do not come again, and passes need several
  auto const is_due =
      (seen + 1) % again_after == 0 && std::has_single_bit((seen + 1) / again_after);
  if (is_due && (all & ~signature.done()) == 0 && budget_.has_earned(monotonic_ns()))
    signature.begin_again();
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
    using enum sampled_context::turn_by;
    std::uint64_t since = 0;
    auto const turned = context.turn_claimed(launch, false, finished, since);
    if (!turned) failure = turned.message();
  } catch (...) {
    on_.store(false, std::memory_order_release);
  }
  keep(context, std::move(finished), std::move(failure));
}

/// The worker waits for it before it switches.
void launch_sampler::let_run_dry(sampled_context& context) noexcept {
  if (!safety_.may_wait(here.stream)) return;
  using enum sampled_context::stream_state;
  context.tell(waited_for);
  auto const is_dry = safety_.has_run_dry(here.stream, most_wait_for_switch_ns);
  context.tell(is_dry || safety_.is_capturing() ? dry : busy);
  auto const deadline = monotonic_ns() + most_wait_for_switch_ns;
  while (context.awaits_launch() && monotonic_ns() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  if (context.is_changing()) wait_for_change(context);
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
bool launch_sampler::open(sampled_context& context, int group, launch_signature& signature,
                          CUstream stream) noexcept {
  auto const now = monotonic_ns();
  // A reading that has begun is finished: what it has cost would be lost.
  if (!budget_.allows(now) && !context.is_reading(signature)) {
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
  if (safe && wishes_.every_launch && !context.has_room(signature)) turn_at_once(context);
  // Another group may have begun since this launch was chosen.
  if (safe && context.group() == group && context.has_room(signature) && context.wants(signature)) {
    auto const dry = safety_.has_run_dry(stream, wait_before_ns);
    if (!on_.load(std::memory_order_acquire)) {
      // The capture has ended meanwhile.
    } else if (dry) {
      opened = open_range(context, signature);
    } else {
      count(counts_.busy);
      not_before_.store(monotonic_ns() + pause_after_busy_ns, std::memory_order_relaxed);
    }
  }
  if (!opened) context.release();
  return opened;
}

bool launch_sampler::open_range(sampled_context& context, launch_signature& signature) noexcept {
  auto const before = monotonic_ns();
  if (context.group_patches() && (here.alike == correlation_id{} || !records_.begin())) {
    count(counts_.in_use);
    return false;
  }
  auto const opened = context.open_range(signature);
  here.ran_from = now();
  if (!opened) {
    records_.end();
    count(counts_.failed);
  }
  budget_.spend(monotonic_ns() - before);
  return opened;
}

void launch_sampler::entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  here.launching = nullptr;
  here.is_pattern = false;
  here.alike = {};
  here.arguments = 0;
  records_.end();
  if (halted_.load(std::memory_order_relaxed)) return;
  if (patching_.load(std::memory_order_relaxed) != 0) records_.call_begins();
  // Its end was not heard of: callbacks were off in between.
  if (auto* const stale = std::exchange(here.open, nullptr)) {
    stale->close_range(nullptr);
    stale->release();
  }
  if (on_.load(std::memory_order_acquire))
    choose(kind, call);
  else
    note_arguments(kind, call);  // samples in time are told apart by them, too
}

/// Before that, a launch of the kind has to show what they run.
bool launch_sampler::may_go_unrecorded(launch_signature const& signature) noexcept {
  here.alike = signature.pattern(capture_.load(std::memory_order_relaxed));
  here.is_pattern = here.alike == correlation_id{};
  return !here.is_pattern;
}

/// A group that rewrites kernels will want one of this kind, and need not wait for it then.
void launch_sampler::become_pattern(launch_signature const& signature,
                                    launch_signature::groups wanted) noexcept {
  if ((wanted & patching_.load(std::memory_order_relaxed)) == 0) return;
  auto const known = signature.pattern(capture_.load(std::memory_order_relaxed));
  here.is_pattern = known == correlation_id{};
}

void launch_sampler::choose(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  auto* const context = context_of(call);
  if (context == nullptr) return;
  here.number = context->count_launch();
  auto const number = launches_.fetch_add(1, std::memory_order_relaxed) + 1;
  here.alone = number == here.number_of_all + 1 ? here.alone + 1 : 0;
  here.number_of_all = number;
  launch_parameters launch;
  auto const is_readable = read_launch_parameters(kind, call, launch) && launch.work != nullptr;
  auto* const signature = is_readable ? kind_of(launch, call) : nullptr;
  if (!is_readable || launch.cooperative) {
    count(counts_.cooperative);
    return;
  }
  auto const is_graph = kind.call == launch_call::graph;
  if (is_graph && (safety_.shuns_graphs() || knows_several_gpus())) {
    count(counts_.graphs);
    return;
  }
  if (signature == nullptr || !may_be_read(*signature, call)) return;
  if (wishes_.every_launch && context->group() < 0) wait_until_counting(*context);
  if (context->is_changing()) wait_for_change(*context);
  here.launching = signature;
  here.stream = launch.stream;
  if (context->awaits_launch()) let_run_dry(*context);
  auto groups = missing(*signature);
  // A graph's kernels were rewritten, or not, when it was made.
  if (is_graph || here.alone < enough_alone) groups &= ~patching_.load(std::memory_order_relaxed);
  if (groups == 0) return;
  auto const group = context->group();
  auto const current = group < 0 ? 0 : launch_signature::groups{1} << group;
  if ((groups & current) == 0 || !context->wants(*signature)) {
    // One that is being read has no use for this pass alone.
    context->note_want(context->is_reading(*signature) ? groups & ~current : groups);
  } else if (context->group_patches() && !may_go_unrecorded(*signature)) {
    context->note_want(groups & ~current);
  } else if (open(*context, group, *signature, launch.stream)) {
    here.open = context;
    context->note_want(groups & ~current);
  }
  if (here.open == nullptr) become_pattern(*signature, groups);
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

launch_remark launch_sampler::left(CUpti_CallbackData const& call, bool gets_record) noexcept {
  auto said = finish(call, gets_record);
  said.arguments = here.arguments;
  records_.call_ends();
  return said;
}

launch_remark launch_sampler::finish(CUpti_CallbackData const& call, bool gets_record) noexcept {
  auto* const signature = std::exchange(here.launching, nullptr);
  auto* const context = std::exchange(here.open, nullptr);
  auto const is_pattern = std::exchange(here.is_pattern, false);
  if (halted_.load(std::memory_order_relaxed)) return records_.end(), launch_remark{};
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  auto const failed = status != nullptr && *status != 0;
  launch_remark said;
  if (context != nullptr) {
    auto const dry = failed || safety_.has_run_dry(here.stream, most_wait_ns);
    here.ran_to = now();
    // A rewritten kernel runs many times as long.
    if (records_.is_mine() && here.ran_to > here.ran_from)
      budget_.spend(static_cast<std::uint64_t>((here.ran_to - here.ran_from).value));
    if (!failed && records_.is_mine()) said = unrecorded();
    if (dry) {
      close(*context, failed ? nullptr : signature, call);
    } else {
      // Not inside CUPTI: a kernel that waits for what this thread does next would never end. The
      // range stays open, and the context claimed: nothing more is read.
      count(counts_.abandoned);
      context->is_stuck(true);
      stop_for_good("a launch that was being read did not end in two seconds");
    }
    records_.end();
  } else if (is_pattern && gets_record) {
    signature->note_pattern(capture_.load(std::memory_order_relaxed),
                            static_cast<correlation_id>(call.correlationId));
    said.is = launch_remark::kind::pattern;
  }
  return said;
}

launch_remark launch_sampler::unrecorded() noexcept {
  count(counts_.unrecorded);
  return {.is = launch_remark::kind::unrecorded,
          .alike = here.alike,
          .ran_from = here.ran_from,
          .ran_to = here.ran_to};
}

/// The range around a launch; `signature`: null when it failed.
void launch_sampler::close(sampled_context& context, launch_signature* signature,
                           CUpti_CallbackData const& call) noexcept {
  auto const before = monotonic_ns();
  // Another thread has launched meanwhile: it was counted, too.
  auto const alone = context.launches() == here.number;
  auto const kept = context.close_range(alone ? signature : nullptr,
                                        static_cast<correlation_id>(call.correlationId));
  count(kept ? counts_.sampled : alone ? counts_.failed : counts_.missed);
  if (context.pass_is_full() && !safety_.is_capturing()) turn_at_once(context);
  context.release();
  budget_.spend(monotonic_ns() - before);
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

void launch_sampler::let_go() noexcept {
  for (auto& entry : contexts_) {
    auto* const context = entry.load(std::memory_order_acquire);
    if (context == nullptr || halted_.load()) return;
    if (!context->holds_counters() || !context->claim()) continue;
    auto const before = monotonic_ns();
    // After the claim: a capture that begins now waits for it.
    if (!safety_.is_capturing()) context->let_go();
    context->release();
    budget_.spend(monotonic_ns() - before);
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
