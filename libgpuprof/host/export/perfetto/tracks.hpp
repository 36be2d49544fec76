// SPDX-License-Identifier: Apache-2.0
// The tracks of a process: its threads, and what lies below them; each described when first used.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/packet_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::perfetto {

/// What a track is known by in the file.
enum class track_id : std::uint64_t {};

class tracks {
 public:
  tracks(packet_file& file, export_job& job);

  /// As the capture calls it; 1 when it does not tell.
  std::uint32_t process_id() const noexcept { return process_id_; }
  track_id process() const noexcept { return process_; }
  /// By the number that the system gave it; the process for 0, where no thread is known.
  track_id thread(std::uint32_t os_thread);
  track_id thread(thread_index thread) { return this->thread(job_.trace.os_thread(thread)); }
  /// A new one each time; Perfetto shows those of one name and parent as one.
  track_id child_of(track_id parent, std::string_view name);
  track_id counter_in_bytes(std::string_view name);
  track_id counter(std::string_view name, std::string_view unit);

 private:
  template <class AddUnit>
  track_id add_counter(std::string_view name, AddUnit add_unit);
  track_id next();
  void describe_process();

  packet_file& file_;
  export_job& job_;
  std::uint32_t process_id_;
  std::uint64_t last_;
  track_id process_;
  std::unordered_map<std::uint32_t, std::string> thread_names_;
  std::unordered_map<std::uint32_t, track_id> threads_;
};

}  // namespace gpuprof::perfetto
