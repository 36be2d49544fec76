// SPDX-License-Identifier: Apache-2.0
#include "replay/player/performance.hpp"

#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string_view>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gpuprof::replay {

std::uint64_t realtime_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

namespace {

/// CUPTI gives an id once in a process, so a session that is played again has others.
std::uint32_t take_correlations(std::uint32_t many) {
  static std::atomic<std::uint32_t> taken{0};
  return taken.fetch_add(many);
}

constexpr std::uint32_t spare_ids = 1 << 20;

}  // namespace

performance::performance(recording& r, driver d, play_options options)
    : r_(r),
      driver_(d),
      options_(std::move(options)),
      timeline_(make_timeline(r)),
      nvtx_(r),
      first_correlation_(
          take_correlations((timeline_.max_correlation + 1) * options_.repeat + spare_ids)),
      spare_correlation_(first_correlation_ + (timeline_.max_correlation + 1) * options_.repeat +
                         1) {
  find_first_kernels();
}

void performance::find_first_kernels() {
  for (std::size_t i = 0; i < r_.records.count(); ++i) {
    auto const* const bytes = r_.records.bytes.data() + timeline_.record_offset[i];
    auto const kind = kind_of_record(bytes);
    auto const* const fields = fields_of(kind);
    if (!fields->on_gpu) continue;
    auto& first = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? first_kernels_ : first_copies_;
    first.try_emplace(get_field<std::uint32_t>(bytes, fields->correlation), i);
  }
}

void const* performance::parameters_of(event const& e, launch_arguments& arguments) const {
  CUpti_ActivityKernel10 kernel{};
  kernel.gridX = kernel.gridY = kernel.gridZ = 1;  // one that left no record: captured, or failed
  kernel.blockX = kernel.blockY = kernel.blockZ = 1;
  auto const found = first_kernels_.find(e.correlation);
  if (found != first_kernels_.end()) {
    std::memcpy(&kernel, r_.records.bytes.data() + timeline_.record_offset[found->second],
                std::min<std::size_t>(r_.records.sizes[found->second], sizeof kernel));
  }
  kernel.contextId = context_now(e.context);
  if (auto const* const launch = arguments.of(e.code, kernel, e.text)) return launch;
  auto const copy = first_copies_.find(e.correlation);
  if (copy == first_copies_.end()) return nullptr;
  auto const* const bytes = r_.records.bytes.data() + timeline_.record_offset[copy->second];
  auto const& fields = *fields_of(kind_of_record(bytes));
  return arguments.of_copy(kernel.contextId, get_field<std::uint32_t>(bytes, fields.stream));
}

void performance::run() {
  for (turn_ = 0; turn_ < options_.repeat; ++turn_) {
    correlation_shift_ = first_correlation_ + turn_ * (timeline_.max_correlation + 1);
    if (turn_ > 0) {
      gpu_.start_again();
      nvtx_.start_again();
    }
    began_ = realtime_ns();
    run_once(turn_ + 1 == options_.repeat);
  }
}

void performance::run_once(bool last_time) {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < timeline_.threads.size(); ++i) {
    if (timeline_.threads[i].empty()) continue;
    others.emplace_back([this, i] { play_thread(i, false); });
  }
  play_thread(0, last_time);
}

void performance::play_thread(std::size_t index, bool may_interrupt) {
  if (index < r_.threads.size()) {
    nvtx_.set_os_thread(r_.threads[index].os_thread,
                        static_cast<std::uint32_t>(syscall(SYS_gettid)));
  }
  auto const length = static_cast<double>(timeline_.end - timeline_.begin);
  auto const interrupt_time =
      timeline_.begin + static_cast<std::uint64_t>(length * options_.interrupt_at);
  bool interrupted = !may_interrupt || !options_.interrupt;
  calls_under_way calls;
  for (auto const& a : timeline_.threads[index]) {
    if (!interrupted && a.time >= interrupt_time) {
      wait_until(interrupt_time);
      interrupted = true;
      options_.interrupt();
    }
    wait_until(a.time);
    if (a.what == nullptr) {
      for (auto const record : a.records) emit(record, a.time, realtime_ns());
    } else if (a.what->kind == event_kind::call) {
      play_call(a, calls);
    } else if (a.what->kind == event_kind::resource) {
      play_resource(*a.what);
    } else {
      nvtx_.play(*a.what);
    }
  }
  if (!interrupted) {
    wait_until(interrupt_time);
    options_.interrupt();
  }
}

void performance::wait_until(std::uint64_t recorded) const {
  auto const when = began_ + static_cast<std::uint64_t>(
                                 static_cast<double>(recorded - timeline_.begin) / options_.speed);
  constexpr std::uint64_t worth_sleeping = 100'000, max_spin = 60'000;
  auto now = realtime_ns();
  if (now + worth_sleeping < when) {
    auto const until = when - max_spin;
    timespec const t{static_cast<time_t>(until / 1'000'000'000u),
                     static_cast<long>(until % 1'000'000'000u)};
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, nullptr);
    now = realtime_ns();
  }
  while (now < when) now = realtime_ns();
}

/// No launch of a GPU returns sooner; exports make up calls of 1 us.
constexpr std::uint64_t least_call_ns = 1200;

void performance::play_call(action const& a, calls_under_way& calls) {
  auto const& e = *a.what;
  auto& call = calls[e.correlation];
  if (e.site == CUPTI_API_ENTER) call.parameters = parameters_of(e, call.arguments);
  driver_call now{.cbid = e.code,
                  .site = static_cast<CUpti_ApiCallbackSite>(e.site),
                  .correlation = e.correlation + correlation_shift_,
                  .context = context_now(e.context),
                  .result = static_cast<CUresult>(e.result),
                  .symbol = e.text != 0 ? r_.strings[e.text].c_str() : nullptr,
                  .correlation_data = &call.correlation_data,
                  .parameters = call.parameters};
  if (e.site == CUPTI_API_ENTER && refused_calls::are_wanted()) refuse_one(now, calls.refused);
  if (e.site == CUPTI_API_EXIT) {
    note_capture(e);
    // Also where the player is late and does not wait for recorded times.
    while (realtime_ns() < call.entered_now + least_call_ns) {
    }
  }
  // CUPTI makes the records while the driver enqueues the work: before the exit.
  for (auto const record : a.records) emit(record, a.entered, call.entered_now);
  if (auto const* const tool = driver_.tool()) tool->call(now);
  if (e.site == CUPTI_API_ENTER) {
    call.entered_now = realtime_ns();  // the driver goes on once tools have had their say
  } else {
    calls.erase(e.correlation);
    count(e);
  }
}

/// A call that fails before a launch that does not, on the same thread.
void performance::refuse_one(driver_call const& launch, refused_calls& refused) {
  auto const* const tool = driver_.tool();
  if (tool == nullptr) return;
  auto const call = refused.next(launch.cbid, launch.parameters, launch.symbol);
  if (call.cbid == 0) return;
  std::uint64_t data = 0;
  driver_call made{.cbid = call.cbid,
                   .correlation = spare_correlation_++,
                   .context = launch.context,
                   .result = CUDA_ERROR_INVALID_VALUE,
                   .symbol = call.symbol,
                   .symbol_is_there = call.symbol_is_there,
                   .correlation_data = &data,
                   .parameters = call.parameters};
  tool->call(made);
  made.site = CUPTI_API_EXIT;
  tool->call(made);
}

void performance::note_capture(event const& e) const {
  switch (e.code) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
      return driver_.capturing(true);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
      return driver_.capturing(false);
    default:
      return;
  }
}

void performance::play_resource(event const& e) const {
  // The context of the first turn lives on through the last.
  auto const id = static_cast<CUpti_CallbackIdResource>(e.code);
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && turn_ > 0) return;
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && turn_ + 1 < options_.repeat) return;
  if (auto const* const tool = driver_.tool()) tool->resource(id, context_now(e.context));
}

void performance::reset_device() {
  driver_.synchronize();
  auto const* const tool = driver_.tool();
  if (tool == nullptr) return;
  std::uint64_t data = 0;
  driver_call call{.cbid = CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
                   .correlation = spare_correlation_++,
                   .context = context_now(1),
                   .correlation_data = &data};
  tool->call(call);
  tool->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, call.context);
  call.site = CUPTI_API_EXIT;
  tool->call(call);
  ++context_shift_;
  tool->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context_now(1));
}

void performance::emit(std::size_t record, std::uint64_t entered, std::uint64_t entered_now) {
  std::vector<std::byte> copy(r_.records.sizes[record]);
  std::memcpy(copy.data(), r_.records.bytes.data() + timeline_.record_offset[record], copy.size());
  auto const kind = kind_of_record(copy.data());
  auto const& fields = *fields_of(kind);
  // Recorded with an older CUPTI: the fields it did not know are 0.
  copy.resize(std::max<std::size_t>(copy.size(), record_size(fields, 130000)));

  gpu_span const was{get_field<std::uint64_t>(copy.data(), fields.start),
                     get_field<std::uint64_t>(copy.data(), fields.end)};
  gpu_span now{fields.start != 0 ? entered_now - (was.end - was.start) : 0, entered_now};
  if (fields.on_gpu) {
    // The whole of a graph is described twice: it must not wait for its own nodes.
    auto const stream = kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE
                            ? ~std::uint32_t{0}
                            : get_field<std::uint32_t>(copy.data(), fields.stream);
    now = gpu_.place(get_field<std::uint32_t>(copy.data(), fields.context), stream, was, entered,
                     entered_now);
  }
  set_field(copy.data(), fields.context,
            context_now(get_field<std::uint32_t>(copy.data(), fields.context)));
  set_field(copy.data(), fields.start, now.start);
  set_field(copy.data(), fields.end, now.end);
  for (auto const at : fields.more_times) {
    if (auto const time = get_field<std::uint64_t>(copy.data(), at); time != 0 && now.start != 0) {
      set_field(copy.data(), at, time + (now.start - was.start));
    }
  }
  if (auto const id = get_field<std::uint32_t>(copy.data(), fields.correlation); id != 0) {
    set_field(copy.data(), fields.correlation, id + correlation_shift_);
  }
  for (auto const at : fields.texts) {
    auto const index = get_field<std::uint64_t>(copy.data(), at);
    bool const known = index != 0 && index < r_.strings.size();
    set_field(copy.data(), at, known ? r_.strings[index].c_str() : nullptr);
  }
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ++counts_.kernels;
  if (fields.on_gpu && kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE) ++counts_.gpu_records;
  driver_.busy_until(stream_handle(get_field<std::uint32_t>(copy.data(), fields.context),
                                   get_field<std::uint32_t>(copy.data(), fields.stream)),
                     now.end);
  if (auto const* const tool = driver_.tool()) {
    tool->record({.bytes = copy.data(), .complete_at = now.end});
  }
}

void performance::count(event const& e) {
  ++counts_.calls;
  switch (e.code) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      ++counts_.launches;
      break;
    default:
      break;
  }
}

}  // namespace gpuprof::replay
