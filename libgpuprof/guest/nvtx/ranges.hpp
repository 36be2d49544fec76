// SPDX-License-Identifier: Apache-2.0
// Opens and closes ranges on the calling thread: the part of NVTX that knows nothing of its C API.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "model/own_ranges.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// What a range or a mark says about itself.
struct event_text {
  name_id name{};
  name_id domain{};  // 0: the default domain
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
  double flops = 0, bytes = 0;
};

/// Told of every range whose end will be recognized, on the thread of the program, recording or
/// not: for capture triggers and step schedules. Compare ids got beforehand from names().intern();
/// handle no text, take no time. Called before a begin is written, so a recording started here
/// holds this range; and after an end is written, so one stopped here holds it too.
class range_observer {
 public:
  virtual void on_push(name_id name, name_id domain) noexcept = 0;
  virtual void on_pop(name_id name, name_id domain) noexcept = 0;
  virtual void on_start(name_id name, name_id domain) noexcept = 0;
  virtual void on_end(name_id name, name_id domain) noexcept = 0;

 protected:
  ~range_observer() = default;
};

/// May be set and reset at any time; the observer must live as long as the process, since a call
/// may still be on its way.
inline std::atomic<range_observer*> the_range_observer{nullptr};

/// The level within the domain, 0 outermost, as nvtxRangePush promises.
int push_range(thread_log& log, event_text const& text) noexcept;
/// The same, with `parent` as its enclosing range.
int push_range(thread_log& log, event_text const& text, range_id parent) noexcept;
/// The level of the range that ended, negative when there was none.
int pop_range(thread_log& log, name_id domain) noexcept;

/// Ends the ranges of this thread whose domain has been destroyed, as of then. Each push looks
/// whether there is one.
void end_ranges_of_gone_domains(thread_log& log) noexcept;

/// Ends all that are open, innermost first, as when their thread ends: no pop can come any more.
void close_ranges(thread_log& log) noexcept;

range_id start_range(thread_log& log, event_text const& text) noexcept;
/// On any thread. Unknown ids are counted as unmatched.
void end_range(thread_log& log, range_id range) noexcept;

void mark(thread_log& log, event_text const& text) noexcept;

/// Call once log_is_recording is set: the begins, with their true times, of start/end ranges opened
/// before. Push/pop ranges write their own begins at their thread's next event.
std::vector<range_begin> claim_started_ranges();

/// In a child made by fork(), before its first log.
void forget_started_ranges_of_parent() noexcept;

/// Start/end ranges whose end will not be recognized, because too many are open.
std::uint64_t forgotten_ranges() noexcept;

// The steps that a thread counts with gpuprof_step(), as push/pop ranges like those of NVTX.

/// Ends the step of the thread, if it has begun one.
void end_step(thread_log& log) noexcept;

/// After end_step(). Steps lie side by side, never one in another, whatever ranges the program
/// opens in one and closes in the next; those of a range that is open around all lie in that.
void begin_step(thread_log& log) noexcept;

}  // namespace gpuprof::guest
