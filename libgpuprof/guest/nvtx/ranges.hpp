// SPDX-License-Identifier: Apache-2.0
// Opens and closes ranges on the calling thread. Independent of NVTX's C API.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "model/own_ranges.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// The attributes of a range or mark.
struct event_text {
  name_id name{};
  name_id domain{};  // 0: the default domain
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
  double flops = 0, bytes = 0;
};

/// Notified of every range whose end can be recognized, on the thread of the program, also while
/// not recording. Used for capture triggers and step schedules. Implementations must be fast, must
/// not handle text, and compare ids that they got earlier from names().intern(). Called before a
/// begin is written and after an end is written, so a recording that starts or stops in a call
/// includes this range.
class range_observer {
 public:
  virtual void on_push(name_id name, name_id domain) noexcept = 0;
  virtual void on_pop(name_id name, name_id domain) noexcept = 0;
  virtual void on_start(name_id name, name_id domain) noexcept = 0;
  virtual void on_end(name_id name, name_id domain) noexcept = 0;

 protected:
  ~range_observer() = default;
};

/// May be set and reset at any time. The observer must live as long as the process, since a call
/// may still be running.
inline std::atomic<range_observer*> the_range_observer{nullptr};

/// Returns the level within the domain (0 is outermost), as nvtxRangePush specifies.
int push_range(thread_log& log, event_text const& text) noexcept;
/// Does the same with `parent` as the enclosing range.
int push_range(thread_log& log, event_text const& text, range_id parent) noexcept;
/// Returns the level of the range that ended, or a negative value if there was none, which is
/// counted as a mistake of the program if it `is_expected`.
int pop_range(thread_log& log, name_id domain, bool is_expected = true) noexcept;

/// Ends the ranges of this thread whose domain has been destroyed, at the time of that. Each push
/// checks for such domains.
void end_ranges_of_gone_domains(thread_log& log) noexcept;

/// Ends all open ranges, innermost first, for example when the thread ends: no pop can come any
/// more.
void close_ranges(thread_log& log) noexcept;

range_id start_range(thread_log& log, event_text const& text) noexcept;
/// Can be called on any thread. Unknown ids are counted as unmatched.
void end_range(thread_log& log, range_id range) noexcept;

void mark(thread_log& log, event_text const& text) noexcept;

/// Call when log_is_recording has been set. Returns the begins of start/end ranges opened before,
/// with their true times. Push/pop ranges are written at the next event of their thread.
std::vector<range_begin> claim_started_ranges();

/// Call in a child made by fork(), before its first log.
void forget_started_ranges_of_parent() noexcept;

/// Number of start/end ranges whose end will not be recognized, because too many were open.
std::uint64_t forgotten_ranges() noexcept;

// The steps that a thread counts with gpuprof_step(), as push/pop ranges like those of NVTX.

/// Ends the current step of the thread, if there is one.
void end_step(thread_log& log) noexcept;

/// Call after end_step(). Steps are never nested, even if the program opens a range in one step and
/// closes it in a later one. If a range was open at the first step, the steps stay inside it.
void begin_step(thread_log& log) noexcept;

}  // namespace gpuprof::guest
