// SPDX-License-Identifier: Apache-2.0
// An nsys SQLite export as its table readers see it: rows with their process, and texts by number.
#pragma once

#include "host/import/nsys/sqlite_reader.hpp"
#include "host/import/source_readers.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::host {

// Work that a program has declared in the payload of a range: FLOP and bytes.

struct declared_work {
  double flops = 0, bytes = 0;  // 0: not declared
};

/// Reads the numbers "flops" and "bytes" from a JSON object, or from an object that is a member of
/// it. gpuprof::scoped_range sends these names.
declared_work declared_in(std::string_view json);

/// A process of the file, with the state needed while reading.
struct nsys_process {
  std::unique_ptr<imported_process> records;
  std::unordered_map<std::int64_t, name_id> texts;      // by number in StringIds
  std::unordered_map<std::int64_t, name_id> domains;    // by number in NVTX_EVENTS
  std::unordered_map<name_id, declared_work> declared;  // by payload
};

class nsys_source {
 public:
  nsys_source(sqlite_reader& file, source_reading& reading);

  sqlite_reader& file;
  source_reading& reading;

  /// Returns the process of a globalPid or globalTid; null if it is not wanted, or if no more
  /// processes are accepted.
  nsys_process* process_of(std::int64_t global);
  /// The file names threads of every process of the machine. Removes the processes without records.
  void keep_those_with_records();
  static std::uint32_t process_id(std::int64_t global) { return (global >> 24) & 0xffffff; }
  static std::uint32_t os_thread(std::int64_t global) { return global & 0xffffff; }

  name_id text(nsys_process& process, std::int64_t string_id);
  std::string string_of(std::int64_t string_id);

  std::map<std::int64_t, nsys_process>& processes() noexcept { return processes_; }
  /// Ids of the processes with records, wanted or not.
  std::set<std::uint32_t> const& seen() const noexcept { return seen_; }

  /// Calls take(rows, process) for each row, advances the progress, and notes a damaged table.
  /// `columns` must begin with globalPid or globalTid.
  template <class Take>
  void each(std::string const& table, std::initializer_list<char const*> columns, Take take) {
    if (!file.has(table)) return;
    auto rows = file.select(table, columns);
    std::uint64_t count = 0;
    while (rows.next()) {
      if (++count % 256 == 0) reading.job.advance(256);
      if (auto* const process = process_of(rows.integer(0))) take(rows, *process);
    }
    if (auto const failure = rows.failure(); !failure.empty()) note_damage(table, count, failure);
  }

 private:
  void note_damage(std::string const& table, std::uint64_t rows, std::string const& failure);

  std::set<std::uint32_t> seen_;
  std::map<std::int64_t, nsys_process> processes_;  // by globalPid
  std::int64_t last_key_ = -1;
  nsys_process* last_ = nullptr;
  bool is_closed_ = false;  // no more processes are accepted
  std::unique_ptr<sqlite_rows> strings_;
  bool strings_noted_ = false;  // damaged strings were noted
};

/// Reads kernels, copies, fills, graphs, waits, allocations and migrations.
void read_nsys_gpu_work(nsys_source& source);
/// Reads calls of the CUDA runtime and driver.
void read_nsys_calls(nsys_source& source);
/// Reads ranges, marks, and names of domains, categories and threads.
void read_nsys_nvtx(nsys_source& source);
/// Reads the description of the file, its GPUs and its processes.
void read_nsys_target(nsys_source& source);

}  // namespace gpuprof::host
