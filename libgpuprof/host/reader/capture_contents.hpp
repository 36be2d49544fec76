// SPDX-License-Identifier: Apache-2.0
// The contents of a capture_file: the file, and its names once a text is needed.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/reading/exported_names.hpp"
#include "host/reading/trace_contents.hpp"

#include <optional>
#include <utility>

namespace gpuprof::host {

/// This object does not move after construction.
class capture_contents {
 public:
  explicit capture_contents(capture::reader file) : trace_(std::move(file)) {}

  trace_contents& trace() noexcept { return trace_; }
  /// The first call demangles all kernel names.
  exported_names& names() {
    if (!names_) names_.emplace(trace_);
    return *names_;
  }

 private:
  trace_contents trace_;
  std::optional<exported_names> names_;
};

}  // namespace gpuprof::host

namespace gpuprof {
inline namespace capture_v1 {

struct capture_file::contents : host::capture_contents {
  using capture_contents::capture_contents;
};

struct captured_detail::inside {
  static host::capture_contents& of(capture_file& file) noexcept { return *file.contents_; }
};

}  // namespace capture_v1
}  // namespace gpuprof
