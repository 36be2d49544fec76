// SPDX-License-Identifier: Apache-2.0
// The capture file of this process, with what it says about the process, its threads and its GPUs.
#pragma once

#include "base/ledger.hpp"
#include "capture/output_file.hpp"
#include "capture/writer.hpp"
#include "guest/collect/cupti_tracer.hpp"
#include "guest/nvtx/thread_log.hpp"
#include "guest/options/output_name.hpp"
#include "guest/options/settings.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::guest {

// Decides when a capture has to end so that its file does not fill the disk.

/// Pure: no clock, no file.
class disk_limits {
 public:
  explicit disk_limits(settings const& options) noexcept
      : max_size_(options.max_size_bytes), min_free_(options.min_free_bytes) {}

  /// The disk is to be asked now: every two seconds, and at the first call.
  bool is_due(std::uint64_t monotonic_ns) noexcept;

  /// The reason to end, such as "its file has 93.8 MB of the 100 MB of --max-size"; empty: none.
  /// Room is left for the records that come after the end. `is_full`: some had no room already.
  std::string why_too_large(std::uint64_t file_bytes, bool is_full) const;
  std::string why_too_full(capture::disk_space const& disk) const;

 private:
  std::uint64_t min_free(std::uint64_t total) const noexcept;

  std::uint64_t const max_size_;
  std::optional<std::uint64_t> const min_free_;
  std::uint64_t next_ = 0;
};

/// The environment as it was when the profiler was made, on a thread of the program: the program
/// may change it at any time, and reading it on a thread of our own beside that is a race.
class environment_copy {
 public:
  /// To be made on a thread of the program.
  environment_copy();

  struct entry {
    std::string name, value;
  };
  std::vector<entry> const& all() const noexcept { return variables_; }
  std::optional<std::string> value_of(std::string_view name) const;

 private:
  std::vector<entry> variables_;
};

/// The GPUs, what is stored of their peaks, and the libraries.
struct gpu_rows {
  std::vector<fact_record> facts;
  std::vector<device_record> devices;
  std::vector<peak_record> peaks;
};
/// Any thread, when cuInit has long returned. Asking NVML takes tens of milliseconds, on hosts of
/// many GPUs more. Without NVML and peaks where the process has few descriptors left.
gpu_rows read_gpus(cupti_tracer const& tracer);

/// Creates the file under the first name that is free, again when others take it first. The reason
/// is a whole line for the user.
result<std::unique_ptr<capture::writer>> create_capture(settings const&, naming_facts const&);

enum class file_state {
  usable,        // or not made yet
  failed,        // it could not be made, or written
  limit_reached  // it is as large as it may be, or its disk is nearly full
};

/// choose(), path() and state() on any thread, the rest on the drain thread alone.
class capture_output {
 public:
  /// On a thread of the program.
  explicit capture_output(settings const& options) : options_(options), limits_(options) {}

  /// Overrides the settings' name of the file. Without effect once it is open.
  void choose(std::string const& pattern);
  /// Path of the file; empty while there is none.
  std::string path() const;

  /// Null, after a clear line, when there can be no file.
  capture::writer* open();
  capture::writer* file() noexcept { return file_.get(); }
  /// Nothing more is recorded unless it is usable. A line has said why.
  file_state state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// That line; empty while the file is usable.
  std::string why_not_usable() const;
  /// The free space is to be looked at now: file()->space(), on a thread that may wait.
  bool wants_space() noexcept;
  void judge(capture::disk_space const& disk);

  /// Names given out since the last call. Before rows that use them.
  void write_names();
  /// There is a file, and it does not say yet which GPUs there are.
  bool wants_gpus() const noexcept { return file_ != nullptr && !gpus_described_; }
  /// The GPUs are described, the rest of it by their own rows.
  void add(std::span<fact_record const> about_gpus);
  /// New threads and labels, names, counters; then all of it to disk.
  void flush(named_counters const& counters);
  /// The mark of a complete file.
  void close() noexcept;

 private:
  bool create();
  void fact(std::string const& key, std::string const& value);
  void describe_process();
  void write_threads();
  void write_labels();
  void judge_size();
  void end_at_limit(std::string const& why);
  void set_unusable(file_state state, std::string const& line);

  settings const& options_;
  environment_copy const environment_;
  std::unique_ptr<capture::writer> file_;
  disk_limits limits_;
  std::atomic<file_state> state_{file_state::usable};
  bool is_noted_ = false, gpus_described_ = false;
  std::size_t names_written_ = 0, threads_seen_ = 0, categories_seen_ = 0, labels_seen_ = 0;
  std::vector<thread_identity> threads_;
  std::map<std::uint32_t, name_id> thread_labels_;  // by the system's thread id

  mutable std::mutex mutex_;  // protects the rest
  std::string path_, chosen_, why_not_usable_;
};

}  // namespace gpuprof::guest
