// SPDX-License-Identifier: Apache-2.0
// What the program's threads did: CUDA calls, NVTX ranges, marks.
#pragma once

#include "host/export/chrome/call_rows.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/export_job.hpp"

#include <string>
#include <unordered_map>

namespace gpuprof::chrome {

/// Names of a capture as JSON texts, each made once.
class quoted_names {
 public:
  explicit quoted_names(exported_names& names) noexcept : names_(&names) {}
  std::string const& of(name_id id);
  /// "aten::mm" of the range "aten::mm, seq = 12" that PyTorch's emit_nvtx makes of an operator;
  /// empty: it is none.
  std::string const& of_operator(name_id id);
  /// Without the suffix that CUPTI puts behind the names of calls.
  std::string const& of_call(name_id id);

 private:
  exported_names* names_;
  std::unordered_map<name_id, std::string> texts_, operators_, calls_;
};

/// Calls, ranges and marks of all threads. Ranges are written when they end; what was still open
/// ends with the capture.
void write_threads(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows);

}  // namespace gpuprof::chrome
