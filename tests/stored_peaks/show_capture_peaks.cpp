// Prints the peaks in a capture as JSON, a line for each: show_capture_peaks CAPTURE
#include "capture/reader.hpp"

#include <cstdio>

using namespace gpuprof;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto file = capture::reader::open(argv[1]);
  if (!file) return std::fprintf(stderr, "%s\n", file.message().c_str()), 1;
  file->for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& r : rows) {
      auto const text = [&](name_id id) { return std::string(file->text(id)); };
      std::printf(
          "{\"device\": %u, \"test\": \"%s\", \"group\": \"%s\", \"title\": \"%s\", \"unit\": "
          "\"%s\", "
          "\"clock\": \"%s\", \"method\": \"%s\", \"operands\": \"%s\", \"measured_at\": \"%s\", ",
          raw(r.device), text(r.test).c_str(), text(r.group).c_str(), text(r.title).c_str(),
          text(r.unit).c_str(), text(r.clock).c_str(), text(r.method).c_str(),
          text(r.operands).c_str(), text(r.measured_at).c_str());
      std::printf(
          "\"per_clock\": %g, \"per_clock_theory\": %g, \"burst\": %g, \"burst_spread\": %g, "
          "\"burst_sm_clock_mhz\": %g, \"sustained\": %g, \"sustained_sm_clock_mhz\": %g, "
          "\"sustained_watts\": %g, \"theory\": %g, \"limiters\": %llu}\n",
          r.per_clock, r.per_clock_theory, r.burst, r.burst_spread, r.burst_sm_clock_mhz,
          r.sustained, r.sustained_sm_clock_mhz, r.sustained_watts, r.theory,
          static_cast<unsigned long long>(r.limiters));
    }
  });
  for (auto const& warning : file->warnings()) std::fprintf(stderr, "%s\n", warning.c_str());
  return 0;
}
