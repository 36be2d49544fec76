// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/pm_sampler.hpp"

#include "base/time.hpp"
#include "replay/cupti/contract.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/cupti/gpu_work.hpp"
#include "replay/cupti/range_profiler.hpp"
#include "replay/format/machine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace gpuprof::replay {
namespace {

unsigned long long printable(std::uint64_t number) {
  return number;
}

/// Until when samples can be handed out. After a stop the rest is wanted: calls that are under way
/// get a moment to say what they have launched.
std::uint64_t known_until(bool stopped, std::uint64_t now) {
  auto until = gpu_work::get().known_until();
  for (int i = 0; stopped && until < now && i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    until = gpu_work::get().known_until();
  }
  return stopped ? now : until;
}

}  // namespace

// One device -----------------------------------------------------------------

CUptiResult sampling_session::set_up(CUpti_PmSampling_SetConfig_Params const& p) {
  if (started_) broken("cuptiPmSamplingSetConfig was called between Start and Stop");
  if (p.pConfig == nullptr || p.samplingInterval == 0 ||
      p.hardwareBufferSize < bytes_of_raw_sample ||
      (p.hwBufferAppendMode != CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST &&
       p.hwBufferAppendMode != CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST))
    return CUPTI_ERROR_INVALID_PARAMETER;
  auto const chosen = read_config_image({p.pConfig, p.configSize});
  if (!chosen || chosen->engine != CUPTI_PROFILER_TYPE_PM_SAMPLING || chosen->metrics.empty()) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  // Cycles of a clock that varies are not replayed.
  if (p.triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL) {
    return CUPTI_ERROR_NOT_SUPPORTED;
  }
  auto const schedule = schedule_of(chosen->metrics);
  if (schedule.passes > 1) return CUPTI_ERROR_NOT_SUPPORTED;
  if (!counter_hardware::get().take(device_, this)) return CUPTI_ERROR_HARDWARE_BUSY;
  schedule_ = schedule;
  wanted_ = {p.samplingInterval, p.hardwareBufferSize / bytes_of_raw_sample,
             p.hwBufferAppendMode == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST};
  set_up_ = true;
  was_started_ = false;  // samples of another configuration are gone
  return CUPTI_SUCCESS;
}

CUptiResult sampling_session::start() {
  if (started_) broken("cuptiPmSamplingStart was called twice without Stop");
  if (!set_up_) broken("cuptiPmSamplingStart was called without SetConfig");
  started_ = was_started_ = true;
  auto const now = read_clock(CLOCK_REALTIME);
  gpu_work::get().keep_from(device_, now);
  buffer_.start(wanted_, now);
  log_counters("sampling start device=%zu interval=%llu", device_, printable(wanted_.interval));
  return CUPTI_SUCCESS;
}

void sampling_session::stop() {
  if (!started_) broken("cuptiPmSamplingStop was called without Start");
  started_ = false;
  auto const now = read_clock(CLOCK_REALTIME);
  buffer_.stop(now);
  auto const samples = buffer_.taken(now);
  sampled_ += samples;
  log_counters("sampling stop device=%zu samples=%llu", device_, printable(samples));
}

CUptiResult sampling_session::decode(CUpti_PmSampling_DecodeData_Params& p) {
  if (!was_started_) broken("cuptiPmSamplingDecodeData was called before Start");
  if (p.pCounterDataImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::span const image(p.pCounterDataImage, p.counterDataImageSize);
  if (!sample_data::is_one(image)) {
    broken(
        "cuptiPmSamplingDecodeData was given a counter data image that is not initialized, or not "
        "with this size");
  }
  if (sample_data::room(image) == 0) {
    broken("cuptiPmSamplingDecodeData was given a full image again that was not initialized anew");
  }
  auto const now = read_clock(CLOCK_REALTIME);
  p.decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER;
  p.overflow = buffer_.run_over(now, faults::get().overflows_this_decode());
  if (p.overflow && wanted_.keeps_oldest) return CUPTI_ERROR_OUT_OF_MEMORY;

  auto const until = known_until(!started_, now);
  auto const taken = buffer_.take(sample_data::room(image), until);
  auto const cpu_until = read_clock(CLOCK_THREAD_CPUTIME_ID) +
                         std::uint64_t{1000} * faults::get().decode_us * taken.count;
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) < cpu_until) {
  }
  add_samples(image, taken);
  bool const more = buffer_.holds_more(until);
  p.decodeStopReason = more ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                            : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  if (!started_ && !more) gpu_work::get().release(device_);
  return CUPTI_SUCCESS;
}

void sampling_session::add_samples(std::span<std::uint8_t> image, sample_buffer::samples taken) {
  if (taken.count == 0) return;
  auto const interval = wanted_.interval;
  std::vector<counts> counted(taken.count, counts_of_idling(interval, sms_of(device_)));
  if (taken.first == 0) counted[0] = counts_of_idling(interval + stale_ns, sms_of(device_));
  bool const is_long = faults::get().has_a_long_sample();
  auto& work = gpu_work::get();
  work.add_to(counted, device_, buffer_.begin_of(taken.first), interval);
  work.keep_from(device_, buffer_.begin_of(taken.first + taken.count));
  for (std::size_t i = 0; i < taken.count; ++i) {
    for (std::size_t c = 0; c < counted[i].values.size(); ++c) {
      if (schedule_.pass_of[c] < 0) counted[i].values[c] = not_counted;
    }
    auto const start = buffer_.begin_of(taken.first + i);
    auto const stale = taken.first + i == 0 ? stale_ns : 0;
    auto const end = start + interval + (i == 1 && is_long ? too_long_ns : 0);
    sample_data::add(image, {start - stale, end, counted[i]});
  }
  decoded_ += taken.count;
}

void sampling_session::log_end() const {
  log_counters("sampling disable device=%zu samples=%llu decoded=%llu late=%llu", device_,
               printable(sampled_), printable(decoded_), printable(gpu_work::get().late()));
}

// All of them ----------------------------------------------------------------

pm_sampler& pm_sampler::get() noexcept {
  static auto* const one = new pm_sampler;
  return *one;
}

CUptiResult pm_sampler::enable(std::size_t device, CUpti_PmSampling_Object** object) {
  if (!range_profiler::get().is_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (device >= this_machine().devices.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard const hold(lock_);
  for (auto* const s : sessions_) {
    if (!s->gone && s->device() == device) return CUPTI_ERROR_INVALID_OPERATION;
  }
  auto* const session = new sampling_session(device);
  sessions_.insert(session);
  *object = reinterpret_cast<CUpti_PmSampling_Object*>(session);
  log_counters("sampling enable device=%zu", device);
  return CUPTI_SUCCESS;
}

sampling_session* pm_sampler::use(CUpti_PmSampling_Object* object, char const* function) {
  auto* const session = reinterpret_cast<sampling_session*>(object);
  std::lock_guard const hold(lock_);
  if (disabled_.contains(session)) {
    broken(std::string(function) + " was called after cuptiPmSamplingDisable");
  }
  if (!sessions_.contains(session) || session->gone) return nullptr;
  if (session->in_use.test_and_set()) {
    broken(std::string(function) + " was called while another thread uses the sampler");
  }
  return session;
}

void pm_sampler::disable(sampling_session& session) {
  if (session.is_started()) broken("cuptiPmSamplingDisable was called without Stop");
  gpu_work::get().release(session.device());
  counter_hardware::get().release(&session);
  std::lock_guard const hold(lock_);
  sessions_.erase(&session);
  disabled_.insert(&session);
  session.log_end();
}

void pm_sampler::finalized() {
  std::lock_guard const hold(lock_);
  bool const any =
      std::any_of(sessions_.begin(), sessions_.end(), [](auto* s) { return !s->gone; });
  if (any) broken("cuptiFinalize was called while the sampler of a device is enabled");
}

void pm_sampler::gave_up() {
  std::lock_guard const hold(lock_);
  for (auto* const s : sessions_) {
    s->gone = true;
    counter_hardware::get().release(s);
    gpu_work::get().release(s->device());
  }
}

}  // namespace gpuprof::replay
