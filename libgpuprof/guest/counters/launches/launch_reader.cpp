// SPDX-License-Identifier: Apache-2.0
// What launch_reader does on threads of the program, inside callbacks. reading_rounds.cpp has the
// rest.
#include "guest/counters/launches/launch_reader.hpp"

#include "base/futex.hpp"
#include "base/ledger.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_calls.hpp"
#include "base/time.hpp"

#include <new>
#include <utility>

namespace gpuprof::guest {
namespace {

// A context that goes is given so long until its counters are released, and until the worker is
// out of CUPTI: the first use of counters takes half a second.
constexpr std::uint64_t max_release_ns = 1'000'000'000;

bool has_failed(CUpti_CallbackData const& call) noexcept {
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  return status != nullptr && *status != 0;
}

char const* name_in(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  return kind.call == launch_call::graph ? nullptr : call.symbolName;
}

}  // namespace

launch_reader::launch_reader(cupti_api const& api, cuda_driver const& driver,
                             reading_options options, sampling_budget& budget,
                             std::uint32_t& next_metric, std::atomic<bool> const& halted)
    : api_(api),
      driver_(driver),
      options_(std::move(options)),
      budget_(budget),
      halted_(halted),
      signatures_(driver, options_.skips, options_.code_of),
      idle_moments_(gate_, captures_, halted, [this] { return is_interrupted(); }),
      next_metric_(next_metric) {
  if (options_.shared_beside && !options_.every_launch)
    shared_.emplace(options_.shared_beside, options_.ranks);
}

void launch_reader::resume() noexcept {
  if (given_up_.load()) return;
  capture_.fetch_add(1);
  on_.store(true);
}

/// What began before may have ended, and streams may have been used.
void launch_reader::callbacks_begin() noexcept {
  captures_.forget();
  endings_.store(0);
  signatures_.forget_handles();
  signatures_.forget_graphs();
  generation_.fetch_add(1);
  gate_.forget_calls();
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    context->streams.forget();
  }
}

context_readings* launch_reader::context_of(CUcontext handle, std::uint32_t number) noexcept {
  if (handle == nullptr) return nullptr;
  for (auto& entry : contexts_) {
    auto* known = entry.load();
    if (known == nullptr) {
      auto const device = device_of(handle);
      if (!device) return nullptr;
      auto* const made = new (std::nothrow)
          context_readings(handle, static_cast<context_id>(number), *device, driver_);
      if (made == nullptr) return nullptr;
      if (entry.compare_exchange_strong(known, made)) return note_several_gpus(), made;
      delete made;
    }
    if (!known->is(handle, number)) continue;
    return known->has_ended() ? nullptr : known;
  }
  return in_place_of_another(handle, number);
}

std::optional<device_id> launch_reader::device_of(CUcontext handle) noexcept {
  std::uint32_t device = 0;
  own_calls const marked;
  if (api_.cuptiGetDeviceId == nullptr || api_.cuptiGetDeviceId(handle, &device) != CUPTI_SUCCESS)
    return std::nullopt;
  return static_cast<device_id>(device);
}

/// All places are taken: that of a context that has ended is given to this one.
context_readings* launch_reader::in_place_of_another(CUcontext handle,
                                                     std::uint32_t number) noexcept {
  if (!any_context([](auto const& context) { return context.has_ended(); }))
    return lacks_contexts_.store(true, std::memory_order_relaxed), nullptr;
  auto const device = device_of(handle);
  if (!device) return nullptr;
  for (auto& entry : contexts_) {
    auto* const known = entry.load();
    if (known->begin_again(handle, static_cast<context_id>(number), *device))
      return note_several_gpus(), known;
  }
  return nullptr;  // the worker has not left one of them yet
}

void launch_reader::context_made(CUcontext handle) noexcept {
  std::uint32_t number = 0;
  if (halted_.load() || api_.cuptiGetContextId == nullptr ||
      api_.cuptiGetContextId(handle, &number) != CUPTI_SUCCESS)
    return;
  if (auto* const context = context_of(handle, number)) context->streams.all_known();
}

/// From here on CUPTI is not asked about it any more.
void launch_reader::context_gone(CUcontext handle) noexcept {
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    if (context->handle() == handle) context->note_end();
  }
}

void launch_reader::context_waited_for(CUpti_CallbackData const& call) noexcept {
  if (!on_.load() || has_failed(call) || call.context == nullptr) return;
  if (auto* const context = context_of(call.context, call.contextUid)) context->streams.all_known();
}

/// Once so, always so.
void launch_reader::note_several_gpus() noexcept {
  auto const* const first = contexts_[0].load();
  if (any_context([&](auto const& context) { return context.device() != first->device(); }))
    has_several_gpus_.store(true);
}

/// Kernels of graphs and cooperative ones may be on several of them and wait for each other.
bool launch_reader::knows_several_gpus() const noexcept {
  return has_several_gpus_.load(std::memory_order_relaxed);
}

/// Once so, always so.
bool launch_reader::is_never_read(bool is_graph, bool is_cooperative) const noexcept {
  if (is_graph && graphs_change_.load(std::memory_order_relaxed)) return true;
  if (is_cooperative && cooperative_failed_.load(std::memory_order_relaxed)) return true;
  return (is_graph || is_cooperative) &&
         (has_collectives_.load(std::memory_order_relaxed) || knows_several_gpus());
}

bool launch_reader::may_be_read(launch_call_kind kind, launch_parameters const& launch,
                                launch_signature& what, CUpti_CallbackData const& call) noexcept {
  auto const is_graph = kind.call == launch_call::graph;
  if (is_never_read(is_graph, launch.cooperative)) {
    what.give_up(~launch_signature::groups{0});  // it may have been looked for until now
    return count(is_graph ? counts_.graphs : counts_.cooperative), false;
  }
  if (signatures_.may_be_read(what, name_in(kind, call), launch)) return true;
  if (what.is() != launch_signature::standing::never) return false;  // another thread decides
  // It may wait for other GPUs, or be in graphs: what graphs hold is not known.
  has_collectives_.store(true, std::memory_order_relaxed);
  return count(counts_.by_name), false;
}

void launch_reader::pass(call_in_flight& own, gate_call const& what) noexcept {
  own.inside_since = generation_.load();
  own.is_read = gate_.enter(what);
}

void launch_reader::leave(call_in_flight& own) noexcept {
  auto const inside = std::exchange(own.inside_since, 0);
  if (inside != 0 && inside == generation_.load()) gate_.leave();
}

/// Before the gate is left: while the keeper holds it, all streams with work are known. A stream of
/// a call that failed may be none.
void launch_reader::note_stream(call_in_flight& own, bool failed) noexcept {
  auto* const context = std::exchange(own.context, nullptr);
  if (context == nullptr || failed) return;
  own.has_stream ? context->streams.used(own.stream) : context->streams.used_unknown();
}

// Nothing of what the program passes is read here that is not known to be readable, and no handle
// is given to CUDA: the driver may be about to refuse the call.
void launch_reader::entered(call_in_flight& own, launch_call_kind kind,
                            CUpti_CallbackData const& call) noexcept {
  own = {};
  own.kind = kind;
  if (options_.at_end != nullptr) options_.at_end->look();
  if (options_.devices != nullptr) options_.devices->note(call.context);
  if (halted_.load(std::memory_order_relaxed)) return;
  launches_.fetch_add(1, std::memory_order_relaxed);
  launch_parameters launch;
  own.is_readable = read_launch_parameters(kind, call, launch) && launch.work != nullptr;
  auto const found = own.is_readable
                         ? signatures_.find_before(launch, call.contextUid, name_in(kind, call),
                                                   options_.every_launch)
                         : signature_lookup::found{};
  auto* const signature = found.signature;
  own.signature = signature;
  own.is_whole = found.is_whole;
  if (signature != nullptr) own.arguments = signature->arguments();
  if (!on_.load(std::memory_order_acquire)) return;
  own.is_counted = true;
  auto* const context = context_of(call.context, call.contextUid);
  own.context = context;
  own.stream = launch.stream;
  own.has_stream = own.is_readable;
  gate_call what{context, nullptr, launch.stream};
  if (signature != nullptr && context != nullptr && may_be_read(kind, launch, *signature, call) &&
      (!found.is_whole || options_.every_launch))
    what.signature = signature;
  what.is_wanted =
      what.signature != nullptr && (options_.every_launch || what.signature->is_wanted());
  own.may_be_read = what.signature != nullptr;
  pass(own, what);
}

/// Told apart by the values of its arguments, which the driver has accepted.
launch_signature* launch_reader::by_values(call_in_flight const& own,
                                           CUpti_CallbackData const& call) noexcept {
  launch_parameters launch;
  if (!read_launch_parameters(own.kind, call, launch)) return own.signature;
  auto const* const name = name_in(own.kind, call);
  auto* const signature = signatures_.find(launch, call.contextUid, name);
  if (signature == nullptr) return own.signature;
  if (own.is_counted) (void)signatures_.may_be_read(*signature, name, launch);
  return signature;
}

launch_remark launch_reader::left(call_in_flight& own, CUpti_CallbackData const& call,
                                  bool gets_record) noexcept {
  launch_remark said;
  auto const is_read = std::exchange(own.is_read, false);
  auto const failed = has_failed(call);
  note_stream(own, failed);
  if (is_read) {
    said = remark_;
    said.ran_to = now();
    if (failed) said = {};
    own.inside_since = 0;
    gate_.leave_read(static_cast<correlation_id>(call.correlationId), failed);
  } else {
    auto const was_inside = own.inside_since != 0;
    leave(own);
    if (was_inside && options_.every_launch && own.may_be_read) count(counts_.busy);
  }
  if (failed) return said;
  if (own.signature != nullptr && own.is_whole) {
    own.signature = by_values(own, call);
    own.arguments = own.signature->arguments();
  }
  said.arguments = own.arguments;
  auto* const signature = std::exchange(own.signature, nullptr);
  auto const is_counted = std::exchange(own.is_counted, false);
  if (!is_counted || halted_.load(std::memory_order_relaxed)) return said;
  if (signature == nullptr)
    return count(own.is_readable ? counts_.unknown : counts_.cooperative), said;
  signature->count_launch();
  if (!signatures_.all().has(*signature)) return said;  // its table was replaced meanwhile
  times_.launched(call.correlationId, *signature);
  if (said.is != launch_remark::kind::usual || !gets_record) return said;
  // A group that rewrites kernels will want one of this signature whose kernel has a record.
  auto const capture = capture_.load(std::memory_order_relaxed);
  if (rewriting_.load(std::memory_order_relaxed) == 0 ||
      signature->is() != launch_signature::standing::allowed ||
      signature->pattern(capture) != correlation_id{})
    return said;
  signature->note_pattern(capture, static_cast<correlation_id>(call.correlationId));
  said.is = launch_remark::kind::pattern;
  return said;
}

void launch_reader::work_entered(call_in_flight& own, stream_place place,
                                 CUpti_CallbackData const& call) noexcept {
  own = {};
  if (!on_.load(std::memory_order_acquire) || halted_.load(std::memory_order_relaxed)) return;
  own.context = context_of(call.context, call.contextUid);
  own.has_stream = read_stream(place, call.functionParams, own.stream);
  pass(own, {own.context, nullptr, nullptr});
}

void launch_reader::work_left(call_in_flight& own, CUpti_CallbackData const& call) noexcept {
  note_stream(own, has_failed(call));
  leave(own);
}

// A capture forbids waits for the GPU, to any thread: the gate lets it pass when nobody is inside
// CUPTI.
void launch_reader::stream_capture_begins(CUstream stream) noexcept {
  call_in_flight own;
  if (on_.load(std::memory_order_acquire) && !halted_.load()) pass(own, {});
  captures_.begins(stream);
  leave(own);
}

void launch_reader::stream_capture_ends(CUstream stream) noexcept {
  captures_.ends(stream);
}

void launch_reader::stream_ends(CUstream stream) noexcept {
  captures_.ends(stream);
  for (auto& entry : contexts_) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    context->streams.destroyed(stream);
  }
}

// Which context a call destroys is not known here: the counters of all are released. CUPTI crashes
// where a context goes while it sets up counters, of that one or of another.
void launch_reader::release_for_ending() noexcept {
  if (halted_.load() || (!at_work_.load() && !holds_counters())) return;
  to_be_released_.store(1);
  auto const deadline = monotonic_ns() + max_release_ns;
  while (to_be_released_.load() != 0 && monotonic_ns() < deadline)
    futex_wait(to_be_released_, 1, max_release_ns / 100);
}

void launch_reader::context_ending() noexcept {
  no_cancellation const here;
  endings_.fetch_add(1);
  release_for_ending();
  if (options_.release_gpus) options_.release_gpus();
}

void launch_reader::context_ended() noexcept {
  auto now = endings_.load();
  while (now > 0 && !endings_.compare_exchange_weak(now, now - 1)) {
  }
  signatures_.forget_handles();
}

std::uint64_t launch_reader::kernel_ns() const noexcept {
  auto const all = kernel_ns_.load(std::memory_order_relaxed);
  auto const kernels = kernels_.load(std::memory_order_relaxed);
  if (kernels == 0 || launches() <= kernels) return all;
  return static_cast<std::uint64_t>(static_cast<double>(all) / static_cast<double>(kernels) *
                                    static_cast<double>(launches()));
}

bool launch_reader::holds_counters() const noexcept {
  return any_context([](auto const& context) { return context.holds_counters(); });
}

bool launch_reader::is_parked() const noexcept {
  return !any_context([](auto const& context) { return context.is_counting(); });
}

bool launch_reader::is_costly_to_stop() const noexcept {
  return any_context([](auto const& context) { return context.has_passes_left(); });
}

bool launch_reader::is_in_midst() const noexcept {
  return any_context([](auto const& context) { return context.has_readings(); });
}

}  // namespace gpuprof::guest
