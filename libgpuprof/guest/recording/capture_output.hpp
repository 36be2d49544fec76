// SPDX-License-Identifier: Apache-2.0
// The capture file of this process, including facts about the process, its threads and its GPUs.
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

// Decides when a capture must end so that its file does not fill the disk.

/// Pure: uses no clock or file.
class disk_limits {
 public:
  explicit disk_limits(settings const& options) noexcept
      : max_size_(options.max_size_bytes), min_free_(options.min_free_bytes) {}

  /// True if the disk must be checked now: at the first call, then every two seconds.
  bool is_due(std::uint64_t monotonic_ns) noexcept;

  /// Returns the reason to end the capture, such as "its file has 93.8 MB of the 100 MB of
  /// --max-size", or an empty string. Leaves room for the records that follow. `is_full`: some
  /// records already did not fit.
  std::string why_too_large(std::uint64_t file_bytes, bool is_full) const;
  std::string why_too_full(capture::disk_space const& disk) const;

 private:
  std::uint64_t min_free(std::uint64_t total) const noexcept;

  std::uint64_t const max_size_;
  std::optional<std::uint64_t> const min_free_;
  std::uint64_t next_ = 0;
};

/// The environment when the profiler was made, copied on a thread of the program. The program may
/// change it at any time, so reading it on a profiler thread would be a race.
class environment_copy {
 public:
  /// Construct on a thread of the program.
  environment_copy();

  struct entry {
    std::string name, value;
  };
  std::vector<entry> const& all() const noexcept { return variables_; }
  std::optional<std::string> value_of(std::string_view name) const;

 private:
  std::vector<entry> variables_;
};

/// The GPUs, their stored peaks, and the libraries.
struct gpu_rows {
  std::vector<fact_record> facts;
  std::vector<device_record> devices;
  std::vector<peak_record> peaks;
};
/// Can be called on any thread after cuInit has returned. NVML takes tens of milliseconds, or more
/// if there are many GPUs. If the process has few descriptors left, skips NVML and peaks.
gpu_rows read_gpus(cupti_tracer const& tracer);

/// Creates the file under the first free name, and tries the next one if another process takes it
/// first. The error is a whole line for the user.
result<std::unique_ptr<capture::writer>> create_capture(settings const&, naming_facts const&);

enum class file_state {
  usable,        // or not created yet
  failed,        // it could not be created or written
  limit_reached  // it has its maximum size, or its disk is nearly full
};

/// choose(), path() and state() can be called on any thread, the rest only on the drain thread.
class capture_output {
 public:
  /// Call on a thread of the program.
  explicit capture_output(settings const& options) : options_(options), limits_(options) {}

  /// Overrides the file name of the settings. Has no effect once the file is open.
  void choose(std::string const& pattern);
  /// Returns the path of the file, or an empty string while there is none.
  std::string path() const;

  /// Returns null after printing an error if the file cannot be created.
  capture::writer* open();
  capture::writer* file() noexcept { return file_.get(); }
  /// If the state is not `usable`, nothing more is recorded, and a line with the reason was
  /// printed.
  file_state state() const noexcept { return state_.load(std::memory_order_acquire); }
  /// Returns the printed line, or an empty string while the file is usable.
  std::string why_not_usable() const;
  /// True if the free space must be checked now: by file()->space(), on a thread that may wait.
  bool wants_space() noexcept;
  void judge(capture::disk_space const& disk);

  /// Writes the names assigned since the last call. Call it before writing rows that use them.
  void write_names();
  /// True if the file exists but does not describe the GPUs yet.
  bool wants_gpus() const noexcept { return file_ != nullptr && !gpus_described_; }
  /// Writes facts about the GPUs and marks them as described. Their other properties are separate
  /// rows.
  void add(std::span<fact_record const> about_gpus);
  /// Writes new threads, labels, names and counters, then writes everything to disk.
  void flush(named_counters const& counters);
  /// Marks the file as complete and closes it.
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

  mutable std::mutex mutex_;  // protects everything below
  std::string path_, chosen_, why_not_usable_;
};

}  // namespace gpuprof::guest
