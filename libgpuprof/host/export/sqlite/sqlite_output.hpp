// SPDX-License-Identifier: Apache-2.0
// Helpers that the row writers share (texts by number, nsys' notation of times, processes and
// threads), and the declarations of these writers. Each fills some tables.
#pragma once

#include "host/analysis/api_summary.hpp"
#include "host/export/correlation_set.hpp"
#include "host/export/export_job.hpp"
#include "host/export/sqlite/database.hpp"
#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace gpuprof::host {

/// Texts that rows refer to by number. StringIds has each text once.
class string_ids {
 public:
  /// The numbers in StringIds of a kernel's names.
  struct kernel_names {
    std::int64_t demangled = 0, base = 0, mangled = 0;
  };

  string_ids(database& into, exported_names& names);

  std::int64_t of(std::string const& text);
  std::int64_t of(name_id name);
  kernel_names const& of(exported_names::kernel const& kernel);

 private:
  exported_names* names_;
  insertion rows_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::unordered_map<name_id, std::int64_t> by_name_;
  std::unordered_map<exported_names::kernel const*, kernel_names> by_kernel_;
};

/// Converts to nsys' notation. Times count from the start of the session. Process and thread have
/// 24 bits each, below the number of a virtual machine, which is 1 for the host as in nsys.
class nsys_terms {
 public:
  static constexpr std::int64_t host = std::int64_t{1} << 48;
  static constexpr std::uint32_t largest_process = (1u << 24) - 1;

  explicit nsys_terms(trace_contents& trace);

  std::int64_t time(timestamp_ns moment) const noexcept { return (moment - origin_).value; }
  std::optional<std::int64_t> time_if_known(timestamp_ns moment) const noexcept {
    return moment.value == 0 ? std::nullopt : std::optional(time(moment));
  }
  timestamp_ns origin() const noexcept { return origin_; }

  /// The system's process id.
  std::uint32_t process_id() const noexcept { return process_; }
  std::int64_t global_process() const noexcept { return global_process_; }
  std::int64_t global_thread(std::uint32_t os_thread) const noexcept {
    return global_process_ | (os_thread & largest_process);
  }
  /// Returns nothing for a thread that was not seen.
  std::optional<std::int64_t> global_thread(thread_index thread) const;

  /// Returns 0 for a context that the capture does not describe.
  device_id device_of(context_id context) const;

 private:
  trace_contents* trace_;
  timestamp_ns origin_;
  std::uint32_t process_;
  std::int64_t global_process_;
  std::map<context_id, device_id> devices_;
};

/// Returns the value of ENUM_CUDA_MEM_KIND.
constexpr int nsys_memory_kind(memory_kind kind) noexcept {
  return kind == memory_kind::unknown ? 7 : static_cast<int>(kind) - 1;
}

/// nsys finds the range of a work item through the call that launched it. If the capture does not
/// hold the call, a call without length is created with the time and thread of the launch.
class made_calls {
 public:
  made_calls(export_job& job, database& into, string_ids& strings, nsys_terms const& terms);

  template <class Work>
  void see(Work const& work) {
    if (work.launched.value != 0 && !ids_.contains(work.correlation))
      add(work.launched, work.thread, work.correlation, unrecorded_call(work));
  }
  std::uint64_t count() const noexcept { return rows_.rows(); }

 private:
  void add(timestamp_ns launched, thread_index thread, correlation_id correlation,
           std::string_view name);

  string_ids* strings_;
  nsys_terms const* terms_;
  insertion rows_;
  correlation_set ids_;  // of recorded and created calls
};

struct sqlite_output {
  export_job& job;
  database file;
  string_ids strings;
  nsys_terms terms;
  made_calls calls;

  sqlite_output(export_job& of, std::string const& path);
};

void write_kernels(sqlite_output& to);
void write_memory_work(sqlite_output& to);  // copies, migrations and fills
void write_graphs(sqlite_output& to);
void write_calls(sqlite_output& to);  // API calls, waits, allocations
void write_ranges(sqlite_output& to);
void write_enumerations(sqlite_output& to);
void write_target(sqlite_output& to);           // GPUs, process, threads, versions
void write_counters_of_gpu(sqlite_output& to);  // metrics, readings, samples
void write_roofline(sqlite_output& to);         // lines of `gpuprof roofline`
void write_facts(sqlite_output& to);
/// Call it last: what is missing is known only after reading.
void write_losses(sqlite_output& to);

}  // namespace gpuprof::host
