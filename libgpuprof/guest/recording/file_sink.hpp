// SPDX-License-Identifier: Apache-2.0
// Writes finished records into the capture file.
#pragma once

#include "capture/writer.hpp"
#include "model/record_sink.hpp"

#include <span>

namespace gpuprof::guest {

class file_sink final : public record_sink {
 public:
  explicit file_sink(capture::writer& file) noexcept : file_(file) {}

#define GPUPROF_RECORD(record)           \
  void add(record const& row) override { \
    write(row);                          \
  }
  GPUPROF_SINGLE_RECORDS(GPUPROF_RECORD)
#undef GPUPROF_RECORD
  void add(std::span<kernel_record const> kernels) override {
    file_.add(kernels);
  }

 private:
  template <class Row>
  void write(Row const& row) noexcept {
    file_.add(row);
  }
  void write(counter_reading const& reading) noexcept {
    file_.add(std::span(reading.launches));
    file_.add(std::span(reading.values));
  }
  void write(sampling_results const& results) noexcept {
    file_.add(std::span(results.windows));
    file_.add(std::span(results.samples));
  }

  capture::writer& file_;
};

}  // namespace gpuprof::guest
