// SPDX-License-Identifier: Apache-2.0
// Prints the peaks in a capture as JSON, a line for each: show_capture_peaks CAPTURE
#include "capture/reader.hpp"

#include <cstdio>
#include <type_traits>

using namespace gpuprof;

namespace {

void print(peak_record const& row, capture::reader const& file) {
  char const* separator = "{";
  capture::table<peak_record>::columns([&](std::string_view name, auto const& at) {
    std::printf("%s\"%s\": ", separator, std::string(name).c_str());
    separator = ", ";
    auto const value = at(row);
    if constexpr (std::is_same_v<std::remove_const_t<decltype(value)>, name_id>) {
      std::printf("\"%s\"", std::string(file.text(value)).c_str());
    } else {
      std::printf("%g", static_cast<double>(value));
    }
  });
  std::puts("}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto file = capture::reader::open(argv[1]);
  if (!file) return std::fprintf(stderr, "%s\n", file.message().c_str()), 1;
  file->for_each<peak_record>([&](std::span<peak_record const> rows) {
    for (auto const& row : rows) print(row, *file);
  });
  for (auto const& warning : file->warnings()) std::fprintf(stderr, "%s\n", warning.c_str());
  return 0;
}
