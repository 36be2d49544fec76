// SPDX-License-Identifier: Apache-2.0
#include "host/report/roofline_words.hpp"

#include "host/report/peaks_words.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof::host::report {

std::string beginning_of(std::string_view name, std::size_t characters) {
  auto plain = text::on_one_line(name);
  if (text::width_of(plain) <= characters) return plain;
  std::string out;
  std::size_t kept = 0;
  for (char const c : plain) {
    bool const begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && ++kept >= characters) break;
    out += c;
  }
  return out + "\xE2\x80\xA6";
}

// Template arguments stay as far as there is room.
std::string label_of(roofline_row const& line) {
  std::string_view name = line.name;
  if (name.ends_with(')') && !name.starts_with('[')) {
    auto at = name.size();
    for (int depth = 0; at-- > 0;) {
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
    if (at > 0 && at < name.size()) name = name.substr(0, at);
  }
  if (name.starts_with("void ")) name.remove_prefix(5);
  auto const arguments = std::min(name.find('<'), name.size());
  if (auto const scope = name.substr(0, arguments).rfind("::"); scope != std::string_view::npos)
    name.remove_prefix(scope + 2);
  char share[16];
  std::snprintf(share, sizeof share, line.time_share < 0.0995 ? "  %.1f%%" : "  %.0f%%",
                line.time_share * 100);
  return beginning_of(name, 32) + share;
}

char const* color_of(bound_by const& bound) noexcept {
  switch (bound.what) {
    case bound_by::kind::dram:
      return "#0b6fb8";
    case bound_by::kind::l2:
      return "#0a8f86";
    case bound_by::kind::compute:
      return bound.of >= precision::tensor_fp64 ? "#6a3fb5" : "#c2541b";
    case bound_by::kind::latency:
      return "#b3264a";
    case bound_by::kind::unknown:
      break;
  }
  return "#6b7280";
}

std::string legend_of(bound_by const& bound) {
  if (bound.what == bound_by::kind::unknown) return "not known";
  if (bound.what != bound_by::kind::compute) return std::string(name_of(bound));
  return bound.of >= precision::tensor_fp64 ? "tensor cores" : "CUDA cores";
}

std::string rate_text(double flops) {
  if (flops >= 1e12) return short_number(flops / 1e12) + " TFLOP/s";
  if (flops >= 1e9) return short_number(flops / 1e9) + " GFLOP/s";
  return short_number(flops / 1e6) + " MFLOP/s";
}

std::string byte_rate_text(double bytes) {
  if (bytes >= 1e12) return short_number(bytes / 1e12) + " TB/s";
  return short_number(bytes / 1e9) + " GB/s";
}

}  // namespace gpuprof::host::report
