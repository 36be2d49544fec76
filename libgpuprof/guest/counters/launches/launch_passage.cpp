// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/launch_passage.hpp"

#include "base/futex.hpp"
#include "base/ledger.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_calls.hpp"
#include "base/time.hpp"

#include <new>
#include <utility>

namespace gpuprof::guest {
namespace {

// A call that ends a context waits this long for its counters to be released and for the worker to
// leave CUPTI: the first use of counters takes half a second.
constexpr std::uint64_t max_release_ns = 1'000'000'000;

bool has_failed(CUpti_CallbackData const& call) noexcept {
  auto const* const status = static_cast<int const*>(call.functionReturnValue);
  return status != nullptr && *status != 0;
}

char const* name_in(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
  return kind.call == launch_call::graph ? nullptr : call.symbolName;
}

}  // namespace

void launch_passage::resume() noexcept {
  if (state_.given_up.load()) return;
  state_.capture.fetch_add(1);
  state_.on.store(true);
}

/// Calls that began before may have ended, and streams may have been used.
void launch_passage::callbacks_begin() noexcept {
  state_.captures.forget();
  state_.endings.store(0);
  state_.signatures.forget_handles();
  state_.signatures.forget_graphs();
  state_.generation.fetch_add(1);
  state_.gate.forget_calls();
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    context->streams.forget();
  }
}

context_readings* launch_passage::context_of(CUcontext handle, std::uint32_t number) noexcept {
  if (handle == nullptr) return nullptr;
  for (auto& entry : state_.contexts) {
    auto* known = entry.load();
    if (known == nullptr) {
      auto const device = device_of(handle);
      if (!device) return nullptr;
      auto* const made = new (std::nothrow)
          context_readings(handle, static_cast<context_id>(number), *device, state_.driver);
      if (made == nullptr) return nullptr;
      if (entry.compare_exchange_strong(known, made)) return note_several_gpus(), made;
      delete made;
    }
    if (!known->is(handle, number)) continue;
    return known->has_ended() ? nullptr : known;
  }
  return in_place_of_another(handle, number);
}

std::optional<device_id> launch_passage::device_of(CUcontext handle) noexcept {
  std::uint32_t device = 0;
  own_calls const marked;
  if (state_.api.cuptiGetDeviceId == nullptr ||
      state_.api.cuptiGetDeviceId(handle, &device) != CUPTI_SUCCESS)
    return std::nullopt;
  return static_cast<device_id>(device);
}

/// All places are taken, so this context gets the place of one that has ended.
context_readings* launch_passage::in_place_of_another(CUcontext handle,
                                                      std::uint32_t number) noexcept {
  if (!state_.any_context([](auto const& context) { return context.has_ended(); }))
    return state_.lacks_contexts.store(true, std::memory_order_relaxed), nullptr;
  auto const device = device_of(handle);
  if (!device) return nullptr;
  for (auto& entry : state_.contexts) {
    auto* const known = entry.load();
    if (known->begin_again(handle, static_cast<context_id>(number), *device))
      return note_several_gpus(), known;
  }
  return nullptr;  // the worker has not released any of them yet
}

void launch_passage::context_made(CUcontext handle) noexcept {
  std::uint32_t number = 0;
  if (state_.halted.load() || state_.api.cuptiGetContextId == nullptr ||
      state_.api.cuptiGetContextId(handle, &number) != CUPTI_SUCCESS)
    return;
  if (auto* const context = context_of(handle, number)) context->streams.all_known();
}

/// From here on CUPTI is not called for this context.
void launch_passage::context_gone(CUcontext handle) noexcept {
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    if (context->handle() == handle) context->note_end();
  }
}

void launch_passage::context_waited_for(CUpti_CallbackData const& call) noexcept {
  if (!state_.on.load() || has_failed(call) || call.context == nullptr) return;
  if (auto* const context = context_of(call.context, call.contextUid)) context->streams.all_known();
}

/// Once true, this stays true.
void launch_passage::note_several_gpus() noexcept {
  auto const* const first = state_.contexts[0].load();
  if (state_.any_context([&](auto const& context) { return context.device() != first->device(); }))
    state_.has_several_gpus.store(true);
}

/// Kernels in graphs and cooperative kernels may span several GPUs and wait for each other.
bool launch_passage::knows_several_gpus() const noexcept {
  return state_.has_several_gpus.load(std::memory_order_relaxed);
}

/// Once true, this stays true.
bool launch_passage::is_never_read(bool is_graph, bool is_cooperative) const noexcept {
  if (is_graph && state_.graphs_change.load(std::memory_order_relaxed)) return true;
  if (is_cooperative && state_.cooperative_failed.load(std::memory_order_relaxed)) return true;
  return (is_graph || is_cooperative) &&
         (state_.has_collectives.load(std::memory_order_relaxed) || knows_several_gpus());
}

bool launch_passage::may_be_read(launch_call_kind kind, launch_parameters const& launch,
                                 launch_signature& what, CUpti_CallbackData const& call) noexcept {
  auto const is_graph = kind.call == launch_call::graph;
  if (is_never_read(is_graph, launch.cooperative)) {
    what.give_up(~launch_signature::groups{0});  // it may have been a target until now
    return count(is_graph ? state_.counts.graphs : state_.counts.cooperative), false;
  }
  if (state_.signatures.may_be_read(what, name_in(kind, call), launch)) return true;
  if (what.is() != launch_signature::standing::never) return false;  // another thread decides
  // A kernel on the skip list may wait for other GPUs and may be in graphs, whose content is not
  // known.
  state_.has_collectives.store(true, std::memory_order_relaxed);
  return count(state_.counts.by_name), false;
}

void launch_passage::pass(call_in_flight& own, gate_call const& what) noexcept {
  own.inside_since = state_.generation.load();
  own.is_read = state_.gate.enter(what);
}

void launch_passage::leave(call_in_flight& own) noexcept {
  auto const inside = std::exchange(own.inside_since, 0);
  if (inside != 0 && inside == state_.generation.load()) state_.gate.leave();
}

/// Called before the gate is left: while the keeper holds it, all streams with work are known. The
/// stream handle of a failed call may be invalid.
void launch_passage::note_stream(call_in_flight& own, bool failed) noexcept {
  auto* const context = std::exchange(own.context, nullptr);
  if (context == nullptr || failed) return;
  own.has_stream ? context->streams.used(own.stream) : context->streams.used_unknown();
}

// Reads only memory of the program that is known to be readable, and passes no handle to CUDA,
// because the driver may be about to refuse the call.
void launch_passage::entered(call_in_flight& own, launch_call_kind kind,
                             CUpti_CallbackData const& call) noexcept {
  own = {};
  own.kind = kind;
  if (state_.options.at_end != nullptr) state_.options.at_end->look();
  if (state_.options.devices != nullptr) state_.options.devices->note(call.context);
  if (state_.halted.load(std::memory_order_relaxed)) return;
  state_.launches.fetch_add(1, std::memory_order_relaxed);
  launch_parameters launch;
  own.is_readable = read_launch_parameters(kind, call, launch) && launch.work != nullptr;
  auto const found =
      own.is_readable ? state_.signatures.find_before(launch, call.contextUid, name_in(kind, call),
                                                      state_.options.every_launch)
                      : signature_lookup::found{};
  auto* const signature = found.signature;
  own.signature = signature;
  own.is_whole = found.is_whole;
  if (signature != nullptr) own.arguments = signature->arguments();
  if (!state_.on.load(std::memory_order_acquire)) return;
  own.is_counted = true;
  auto* const context = context_of(call.context, call.contextUid);
  own.context = context;
  own.stream = launch.stream;
  own.has_stream = own.is_readable;
  gate_call what{context, nullptr, launch.stream};
  if (signature != nullptr && context != nullptr && may_be_read(kind, launch, *signature, call) &&
      (!found.is_whole || state_.options.every_launch))
    what.signature = signature;
  what.is_wanted =
      what.signature != nullptr && (state_.options.every_launch || what.signature->is_wanted());
  own.may_be_read = what.signature != nullptr;
  pass(own, what);
}

/// Finds the signature by the values of the arguments, which the driver has accepted.
launch_signature* launch_passage::by_values(call_in_flight const& own,
                                            CUpti_CallbackData const& call) noexcept {
  launch_parameters launch;
  if (!read_launch_parameters(own.kind, call, launch)) return own.signature;
  auto const* const name = name_in(own.kind, call);
  auto* const signature = state_.signatures.find(launch, call.contextUid, name);
  if (signature == nullptr) return own.signature;
  if (own.is_counted) (void)state_.signatures.may_be_read(*signature, name, launch);
  return signature;
}

launch_remark launch_passage::left(call_in_flight& own, CUpti_CallbackData const& call,
                                   bool gets_record) noexcept {
  launch_remark said;
  auto const is_read = std::exchange(own.is_read, false);
  auto const failed = has_failed(call);
  note_stream(own, failed);
  if (is_read) {
    said = state_.remark;
    said.ran_to = now();
    if (failed) said = {};
    own.inside_since = 0;
    state_.gate.leave_read(static_cast<correlation_id>(call.correlationId), failed);
  } else {
    auto const was_inside = own.inside_since != 0;
    leave(own);
    if (was_inside && state_.options.every_launch && own.may_be_read) count(state_.counts.busy);
  }
  if (failed) return said;
  if (own.signature != nullptr && own.is_whole) {
    own.signature = by_values(own, call);
    own.arguments = own.signature->arguments();
  }
  said.arguments = own.arguments;
  auto* const signature = std::exchange(own.signature, nullptr);
  auto const is_counted = std::exchange(own.is_counted, false);
  if (!is_counted || state_.halted.load(std::memory_order_relaxed)) return said;
  if (signature == nullptr)
    return count(own.is_readable ? state_.counts.unknown : state_.counts.cooperative), said;
  signature->count_launch();
  if (!state_.signatures.all().has(*signature)) return said;  // its table was replaced meanwhile
  state_.times.launched(call.correlationId, *signature);
  if (said.is != launch_remark::kind::usual || !gets_record) return said;
  // A group that rewrites kernels needs a launch of this signature whose kernel has a record.
  auto const capture = state_.capture.load(std::memory_order_relaxed);
  if (state_.rewriting.load(std::memory_order_relaxed) == 0 ||
      signature->is() != launch_signature::standing::allowed ||
      signature->pattern(capture) != correlation_id{})
    return said;
  signature->note_pattern(capture, static_cast<correlation_id>(call.correlationId));
  said.is = launch_remark::kind::pattern;
  return said;
}

void launch_passage::work_entered(call_in_flight& own, stream_place place,
                                  CUpti_CallbackData const& call) noexcept {
  own = {};
  if (!state_.on.load(std::memory_order_acquire) || state_.halted.load(std::memory_order_relaxed))
    return;
  own.context = context_of(call.context, call.contextUid);
  own.has_stream = read_stream(place, call.functionParams, own.stream);
  pass(own, {own.context, nullptr, nullptr});
}

void launch_passage::work_left(call_in_flight& own, CUpti_CallbackData const& call) noexcept {
  note_stream(own, has_failed(call));
  leave(own);
}

// A stream capture forbids every thread to wait for the GPU, so it passes the gate only while no
// thread is inside CUPTI.
void launch_passage::stream_capture_begins(CUstream stream) noexcept {
  call_in_flight own;
  if (state_.on.load(std::memory_order_acquire) && !state_.halted.load()) pass(own, {});
  state_.captures.begins(stream);
  leave(own);
}

void launch_passage::stream_capture_ends(CUstream stream) noexcept {
  state_.captures.ends(stream);
}

void launch_passage::stream_ends(CUstream stream) noexcept {
  state_.captures.ends(stream);
  for (auto& entry : state_.contexts) {
    auto* const context = entry.load();
    if (context == nullptr) break;
    context->streams.destroyed(stream);
  }
}

// It is not known here which context the call destroys, so the counters of all are released. CUPTI
// crashes if a context ends while counters are being set up, for this context or another.
void launch_passage::release_for_ending() noexcept {
  if (state_.halted.load() || (!state_.at_work.load() && !state_.holds_counters())) return;
  state_.to_be_released.store(1);
  auto const deadline = monotonic_ns() + max_release_ns;
  while (state_.to_be_released.load() != 0 && monotonic_ns() < deadline)
    futex_wait(state_.to_be_released, 1, max_release_ns / 100);
}

void launch_passage::context_ending() noexcept {
  no_cancellation const here;
  state_.endings.fetch_add(1);
  release_for_ending();
  if (state_.options.release_gpus) state_.options.release_gpus();
}

void launch_passage::context_ended() noexcept {
  auto now = state_.endings.load();
  while (now > 0 && !state_.endings.compare_exchange_weak(now, now - 1)) {
  }
  state_.signatures.forget_handles();
}

}  // namespace gpuprof::guest
