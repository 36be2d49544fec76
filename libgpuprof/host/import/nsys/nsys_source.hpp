// SPDX-License-Identifier: Apache-2.0
// An nsys SQLite export as the readers of its tables see it: rows with their process, texts by
// number.
#pragma once

#include "host/import/declared_work.hpp"
#include "host/import/nsys/sqlite_reader.hpp"
#include "host/import/source_readers.hpp"

#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace gpuprof::host {

/// A process of the file, with what it needs while it is read.
struct nsys_process {
  std::unique_ptr<imported_process> records;
  std::unordered_map<std::int64_t, name_id> texts;      // of StringIds
  std::unordered_map<std::int64_t, name_id> domains;    // of NVTX
  std::unordered_map<name_id, declared_work> declared;  // by payload
};

class nsys_source {
 public:
  nsys_source(sqlite_reader& file, source_reading& reading);

  sqlite_reader& file;
  source_reading& reading;

  /// Of a globalPid or globalTid; null: it is not wanted, or no more are taken in.
  nsys_process* process_of(std::int64_t global);
  /// Every process of the machine has names of threads: those without records are no processes of
  /// the file.
  void keep_those_with_records();
  static std::uint32_t process_id(std::int64_t global) { return (global >> 24) & 0xffffff; }
  static std::uint32_t os_thread(std::int64_t global) { return global & 0xffffff; }

  name_id text(nsys_process& process, std::int64_t string_id);
  std::string string_of(std::int64_t string_id);

  std::map<std::int64_t, nsys_process>& processes() noexcept { return processes_; }
  /// Ids of those that have any records, wanted or not.
  std::set<std::uint32_t> const& seen() const noexcept { return seen_; }

  /// Calls take(rows, process) for each row, moves the progress on, and says so when the table is
  /// damaged. `columns` begin with globalPid or globalTid.
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
  bool is_closed_ = false;  // to further processes
  std::unique_ptr<sqlite_rows> strings_;
  bool strings_noted_ = false;  // that they are damaged
};

/// Kernels, copies, fills, graphs, waits, allocations and migrations.
void read_nsys_gpu_work(nsys_source& source);
/// Calls of the CUDA runtime and driver.
void read_nsys_calls(nsys_source& source);
/// Ranges, marks, names of domains, categories and threads.
void read_nsys_nvtx(nsys_source& source);
/// What the file says of itself, its GPUs and its processes.
void read_nsys_target(nsys_source& source);

}  // namespace gpuprof::host
