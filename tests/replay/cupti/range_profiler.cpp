// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/range_profiler.hpp"

#include "base/time.hpp"
#include "replay/cupti/contract.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/cupti/library.hpp"
#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace gpuprof::replay {
namespace {

void sleep_ns(std::uint64_t ns) {
  timespec const t{static_cast<time_t>(ns / 1'000'000'000u),
                   static_cast<long>(ns % 1'000'000'000u)};
  nanosleep(&t, nullptr);
}

/// As the real library does: however long it takes.
void wait_for_gpu(std::uint64_t until, char const* function) {
  constexpr std::uint64_t longest = 20'000'000'000;
  auto const now = read_clock(CLOCK_REALTIME);
  if (now >= until) return;
  if (until - now > longest) {
    broken(std::string(function) +
           " waits for work that does not end; the real library hangs there");
  }
  sleep_ns(until - now);
}

/// A wait for the GPU, on whichever thread, ends the capture with an error.
void must_not_capture(char const* function) {
  if (range_profiler::get().is_capturing())
    broken(std::string(function) +
           " was called while a stream is captured; the real library waits for the GPU, which "
           "ends the capture with an error");
}

/// The real library waits, and holds the launches of all threads as long as it does: whoever works
/// on the GPU may wait for one of them.
void must_be_idle(std::uint64_t until, char const* function) {
  must_not_capture(function);
  if (read_clock(CLOCK_REALTIME) < until)
    broken(std::string(function) +
           " was called while the GPU works; the real library holds every launch until it is idle");
}

/// The real library puts its mark before all later work: what the kernel waits for would wait too.
void kernels_must_have_ended(std::uint64_t until) {
  if (read_clock(CLOCK_REALTIME) < until)
    broken(
        "cuptiRangeProfilerPopRange was called while a kernel of the range runs; the real library "
        "puts its mark before all later work, also that for which the kernel may wait");
}

thread_local bool this_thread_captures = false;

unsigned number_of(CUcontext context) {
  return static_cast<unsigned>(context_number(context));
}

counts nothing_counted() {
  counts none{};
  none.values.fill(not_counted);
  return none;
}

}  // namespace

void log_counters(char const* format, ...) {
  static std::FILE* const file = [] {
    char const* const path = std::getenv("REPLAY_COUNTER_LOG");
    return path != nullptr && *path != '\0' ? std::fopen(path, "ae") : nullptr;
  }();
  if (file == nullptr) return;
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(file, "%s at=%llu\n", line, static_cast<unsigned long long>(now().value));
  std::fflush(file);
}

// One session ----------------------------------------------------------------

CUptiResult range_session::set_up(CUpti_RangeProfiler_SetConfig_Params const& p) {
  if (started_) broken("cuptiRangeProfilerSetConfig was called between Start and Stop");
  if (p.pConfig == nullptr || p.pCounterDataImage == nullptr || p.maxRangesPerPass == 0 ||
      p.numNestingLevels != 1 || p.minNestingLevel != 1 || p.targetNestingLevel > 1)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (p.range != CUPTI_UserRange) return CUPTI_ERROR_NOT_SUPPORTED;
  if (p.replayMode == CUPTI_KernelReplay) return CUPTI_ERROR_INVALID_OPERATION;
  auto const chosen = read_config_image({p.pConfig, p.configSize});
  std::span const image(p.pCounterDataImage, p.counterDataImageSize);
  if (!chosen || chosen->engine != CUPTI_PROFILER_TYPE_RANGE_PROFILER ||
      !counter_data::is_one(image) ||
      p.maxRangesPerPass > counter_data::max_ranges_in(image.size()))
    return CUPTI_ERROR_INVALID_PARAMETER;
  // As the real library it goes on with the next pass, whatever p.passIndex says.
  auto const schedule = schedule_of(chosen->metrics);
  config_.assign(p.pConfig, p.pConfig + p.configSize);
  if (!first_config_.empty() && config_ != first_config_) {
    broken(
        "cuptiRangeProfilerSetConfig was given other metrics than before the first Start; the real "
        "library goes on with the first ones");
  }
  schedule_ = schedule;
  image_ = image;
  max_in_pass_ = p.maxRangesPerPass;
  set_up_ = true;
  return CUPTI_SUCCESS;
}

CUptiResult range_session::start() {
  if (started_) broken("cuptiRangeProfilerStart was called twice without Stop");
  if (!set_up_) broken("cuptiRangeProfilerStart was called without SetConfig");
  must_be_idle(range_profiler::get().gpu_busy_until(), "cuptiRangeProfilerStart");
  if (pass_ >= schedule_.passes) pass_ = 0;  // all were in: from the first again
  if (pass_ == 0) {
    ranges_.clear();  // what was not decoded is lost
    dropped_ = 0;
  }
  started_ = true;
  first_config_ = config_;
  in_this_pass_ = 0;
  log_counters("start context=%u pass=%zu rewrites=%d", number_of(context_), pass_,
               schedule_.rewrites_in == static_cast<int>(pass_));
  return CUPTI_SUCCESS;
}

void range_session::stop(CUpti_RangeProfiler_Stop_Params& p) {
  if (!started_) broken("cuptiRangeProfilerStop was called without Start");
  must_be_idle(range_profiler::get().gpu_busy_until(), "cuptiRangeProfilerStop");
  if (open_) broken("cuptiRangeProfilerStop was called with the range \"" + *open_ + "\" open");
  started_ = false;
  ++pass_;
  p.passIndex = pass_;
  p.targetNestingLevel = 1;
  p.isAllPassSubmitted = pass_ >= schedule_.passes;
  log_counters("stop context=%u all=%u", number_of(context_), p.isAllPassSubmitted);
}

CUptiResult range_session::push(char const* name) {
  if (!started_) broken("cuptiRangeProfilerPushRange was called without Start");
  if (open_)
    broken("cuptiRangeProfilerPushRange was called with the range \"" + *open_ +
           "\" open, and there is one nesting level");
  if (name == nullptr || *name == '\0') return CUPTI_ERROR_INVALID_PARAMETER;
  auto& all = range_profiler::get();
  must_be_idle(all.gpu_busy_until(), "cuptiRangeProfilerPushRange");
  if (auto const cost = faults::get().push_us; cost != 0) sleep_ns(cost * 1000ull);
  std::lock_guard const hold(all.lock);
  in_open_.clear();
  open_busy_until_ = 0;
  open_ = name;
  return CUPTI_SUCCESS;
}

void range_session::pop() {
  if (!started_) broken("cuptiRangeProfilerPopRange was called without Start");
  if (!open_) broken("cuptiRangeProfilerPopRange was called without an open range");
  must_not_capture("cuptiRangeProfilerPopRange");
  auto& all = range_profiler::get();
  std::uint64_t until = 0;
  {
    std::lock_guard const hold(all.lock);
    until = open_busy_until_;
  }
  kernels_must_have_ended(until);
  if (auto const cost = faults::get().pop_us; cost != 0) sleep_ns(cost * 1000ull);
  std::unique_lock hold(all.lock);
  auto const name = *std::exchange(open_, std::nullopt);
  auto const kernels = std::exchange(in_open_, {});
  hold.unlock();

  counts sum{};
  for (auto const& kernel : kernels) {
    auto const counted = counts_of(kernel, sms_of(device_of_contexts), !kernel.is_recorded);
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += counted.values[i];
  }
  log_counters("range context=%u pass=%zu name=%s kernels=%zu correlation=%u ns=%.0f",
               number_of(context_), pass_, name.c_str(), kernels.size(),
               kernels.empty() ? 0 : kernels[0].correlation, sum[counter::time_ns]);
  if (++in_this_pass_ > max_in_pass_) {
    ++dropped_;
    return;
  }
  auto found =
      std::find_if(ranges_.begin(), ranges_.end(), [&](range const& r) { return r.name == name; });
  if (found == ranges_.end())
    found = ranges_.insert(ranges_.end(), range{name, nothing_counted(), pass_});
  else if (found->last_pass == pass_)
    broken("two ranges of one pass are called \"" + name + "\"");
  found->last_pass = pass_;
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    if (schedule_.pass_of[i] == static_cast<int>(pass_)) found->counted.values[i] = sum.values[i];
  }
}

std::size_t range_session::decode() {
  if (started_) broken("cuptiRangeProfilerDecodeData was called between Start and Stop");
  if (!set_up_) broken("cuptiRangeProfilerDecodeData was called without SetConfig");
  if (!counter_data::is_one(image_)) {
    broken("the counter data image of cuptiRangeProfilerSetConfig is gone before DecodeData");
  }
  // What was decoded before stays in its image: later passes add what they have counted.
  for (auto const& r : ranges_) {
    if (!counter_data::add(image_, {r.name, r.counted})) ++dropped_;
  }
  for (auto& r : ranges_) r.counted = nothing_counted();
  return std::exchange(dropped_, 0);
}

/// Under the lock of all sessions.
bool range_session::rewrites_now() const noexcept {
  if (!open_) return false;
  return schedule_.rewrites_in == static_cast<int>(pass_);
}

bool range_session::note(kernel_run const& kernel, std::uint64_t ends_at) {
  if (!open_) return false;
  in_open_.push_back(kernel);
  open_busy_until_ = std::max(open_busy_until_, ends_at);
  return in_open_.size() == 1;
}

// All of them ----------------------------------------------------------------

range_profiler& range_profiler::get() noexcept {
  static auto* const one = new range_profiler;
  return *one;
}

CUptiResult range_profiler::initialize() {
  initialized_ = true;
  return CUPTI_SUCCESS;
}

void range_profiler::deinitialize() {
  if (!initialized_.exchange(false)) {
    broken("cuptiProfilerDeInitialize was called twice; the real library crashes there");
  }
}

CUptiResult range_profiler::enable(CUcontext context, CUpti_RangeProfiler_Object** object) {
  if (!initialized_) return CUPTI_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;  // nothing here is current
  std::lock_guard const hold(lock);
  if (destroyed_.contains(context)) return CUPTI_ERROR_INVALID_CONTEXT;
  for (auto* const s : sessions_) {
    if (!s->gone && s->context() == context) return CUPTI_ERROR_INVALID_OPERATION;
  }
  auto* const session = new range_session(context);
  sessions_.insert(session);
  *object = reinterpret_cast<CUpti_RangeProfiler_Object*>(session);
  log_counters("enable context=%u", number_of(context));
  return CUPTI_SUCCESS;
}

range_session* range_profiler::use(CUpti_RangeProfiler_Object* object, char const* function) {
  auto* const session = reinterpret_cast<range_session*>(object);
  std::lock_guard const hold(lock);
  if (disabled_.contains(session)) {
    broken(std::string(function) + " was called after cuptiRangeProfilerDisable");
  }
  if (!sessions_.contains(session)) return nullptr;
  if (session->gone) return nullptr;
  if (destroyed_.contains(session->context())) {
    broken(std::string(function) + " was called after its context was destroyed");
  }
  if (session->in_use.test_and_set()) {
    broken(std::string(function) + " was called while another thread uses the range profiler");
  }
  return session;
}

void range_profiler::disable(range_session& session) {
  if (session.is_started()) broken("cuptiRangeProfilerDisable was called without Stop");
  must_be_idle(gpu_busy_until(), "cuptiRangeProfilerDisable");
  std::lock_guard const hold(lock);
  counter_hardware::get().release(&session);
  sessions_.erase(&session);
  disabled_.insert(&session);
  log_counters("disable context=%u", number_of(session.context()));
}

CUptiResult range_profiler::start(range_session& session) {
  // The first one of a process sets things up.
  if (auto const ms = std::exchange(faults::get().start_ms, 0); ms != 0) sleep_ns(ms * 1000000ull);
  std::lock_guard const hold(lock);
  auto& hardware = counter_hardware::get();
  if (!hardware.take(device_of_contexts, &session)) return CUPTI_ERROR_HARDWARE_BUSY;
  auto const code = session.start();
  if (!session.was_started()) hardware.release(&session);
  return code;
}

bool range_profiler::note_record(activity const& given, bool is_recorded) noexcept {
  auto const kind = kind_of_record(given.bytes);
  auto const* const fields = fields_of(kind);
  if (fields == nullptr || !fields->on_gpu) return false;
  auto until = gpu_busy_until_.load();
  while (until < given.complete_at &&
         !gpu_busy_until_.compare_exchange_weak(until, given.complete_at)) {
  }
  if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return false;
  CUpti_ActivityKernel10 k{};
  std::memcpy(&k, given.bytes, sizeof k);
  std::lock_guard const hold(lock);
  bool first = false;
  for (auto* const s : sessions_) {
    if (s->gone || number_of(s->context()) != k.contextId) continue;
    first |= s->note(run_of(k, is_recorded), given.complete_at);
  }
  return first;
}

void range_profiler::launch_returns(std::uint32_t context) {
  {
    std::lock_guard const hold(lock);
    auto const waits = std::any_of(sessions_.begin(), sessions_.end(), [context](auto const* s) {
      return !s->gone && number_of(s->context()) == context && s->rewrites_now();
    });
    if (!waits) return;
  }
  wait_for_gpu(gpu_busy_until(), "a launch whose kernel is rewritten");
}

void range_profiler::capture_begins() noexcept {
  if (!std::exchange(this_thread_captures, true)) ++captures_;
}

void range_profiler::capture_ends() noexcept {
  if (std::exchange(this_thread_captures, false)) --captures_;
}

void range_profiler::context_destroyed(CUcontext context) noexcept {
  std::lock_guard const hold(lock);
  destroyed_.insert(context);
  for (auto* const s : sessions_)
    if (s->context() == context) counter_hardware::get().release(s);
}

void range_profiler::finalized() {
  std::lock_guard const hold(lock);
  for (auto* const s : sessions_) {
    if (!s->gone && !destroyed_.contains(s->context())) {
      broken("cuptiFinalize was called while the range profiler of a context is enabled");
    }
  }
  initialized_ = false;
}

void range_profiler::gave_up() {
  std::lock_guard const hold(lock);
  for (auto* const s : sessions_) {
    s->gone = true;
    counter_hardware::get().release(s);
  }
  initialized_ = false;
}

}  // namespace gpuprof::replay
