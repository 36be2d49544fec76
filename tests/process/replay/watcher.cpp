// SPDX-License-Identifier: Apache-2.0
// A part of a program that watches what the program achieves, as a library to preload: asks every
// 100 ms through <gpuprof/gpuprof.hpp> and keeps the last answer as JSON in the file
// $REPLAY_WATCH_OUTPUT. Numbers that are not known are null.
#include <gpuprof/gpuprof.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// {"key": value, ...}
class object {
 public:
  object& number(char const* key, double value) {
    begin(key);
    if (std::isnan(value))
      text_ << "null";
    else
      text_ << value;
    return *this;
  }
  object& text(char const* key, std::string const& value) {
    begin(key) << '"' << value << '"';
    return *this;
  }
  object& verbatim(char const* key, std::string const& value) {
    begin(key) << value;
    return *this;
  }
  std::string str() const { return "{" + text_.str() + "}"; }

 private:
  std::ostream& begin(char const* key) {
    text_.precision(17);
    if (text_.tellp() > 0) text_ << ", ";
    return text_ << '"' << key << "\": ";
  }
  std::ostringstream text_;
};

std::string json_of(gpuprof_achieved const& line) {
  object flops, of_peak;
  for (std::size_t i = 0; i < line.precision_count; ++i) {
    flops.number(gpuprof::name_of(line.precisions[i]->precision), line.precisions[i]->flops);
    of_peak.number(gpuprof::name_of(line.precisions[i]->precision), line.precisions[i]->of_peak);
  }
  return object()
      .number("launches", static_cast<double>(line.launch_count))
      .number("readings", static_cast<double>(line.reading_count))
      .number("seconds", line.seconds)
      .number("exact_share", line.exact_share)
      .number("flops", line.flops)
      .text("flops_source", gpuprof::name_of(line.flops_source))
      .verbatim("precisions", flops.str())
      .verbatim("precisions_of_peak", of_peak.str())
      .number("dram_bytes_per_second", line.dram_bytes_per_second)
      .number("l2_bytes_per_second", line.l2_bytes_per_second)
      .number("sm_clock_hz", line.sm_clock_hz)
      .number("occupancy", line.occupancy)
      .number("tensor_active", line.tensor_active)
      .number("dram_of_peak", line.dram_of_peak)
      .number("l2_of_peak", line.l2_of_peak)
      .number("of_peak", line.of_peak)
      .text("bound_by", gpuprof::name_of(line.bound_by))
      .str();
}

std::string json_of(gpuprof_achieved const* const* lines, std::size_t count) {
  object all;
  for (std::size_t i = 0; i < count; ++i) all.verbatim(lines[i]->name, json_of(*lines[i]));
  return all.str();
}

std::string json_of(gpuprof::metrics const& now) {
  return object()
      .number("sizes fit", now->struct_size == sizeof(gpuprof_metrics) &&
                               now->all->struct_size == sizeof(gpuprof_achieved))
      .verbatim("all", json_of(*now->all))
      .verbatim("ranges", json_of(now->ranges, now->range_name_count))
      .verbatim("kernels", json_of(now->kernels, now->kernel_name_count))
      .number("has_peaks", now->has_peaks)
      .number("readings", static_cast<double>(now->reading_count))
      .number("readings_left_out", static_cast<double>(now->unused_reading_count))
      .str();
}

/// In one step, since the process may end at any moment.
void replace(std::string const& file, std::string const& text) {
  auto const fresh = file + ".new";
  if (auto* const out = std::fopen(fresh.c_str(), "w")) {
    std::fputs(text.c_str(), out);
    std::fclose(out);
    std::rename(fresh.c_str(), file.c_str());
  }
}

__attribute__((constructor)) void watch() {
  auto const* const file = std::getenv("REPLAY_WATCH_OUTPUT");
  if (file == nullptr) return;
  std::thread([path = std::string(file)] {
    for (;;) {
      std::this_thread::sleep_for(100ms);
      if (auto const now = gpuprof::metrics::take()) replace(path, json_of(now));
    }
  }).detach();
}

}  // namespace
