// SPDX-License-Identifier: Apache-2.0
#include "host/report/peaks_words.hpp"

#include "model/records.hpp"
#include "text/padding.hpp"

#include <cctype>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

std::string printed(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

readable_unit unit_for_reading(std::string_view unit) {
  if (unit == "FLOP/s" || unit == "op/s") return {"T" + std::string(unit), 1e12};
  if (unit == "B/s") return {"GB/s", 1e9};
  if (unit == "s") return {"us", 1e-6};
  return {text::on_one_line(unit), 1};
}

std::string short_number(double value) {
  if (value < 1) return printed("%.3f", value);
  if (value < 10) return printed("%.2f", value);
  return printed(value < 1000 ? "%.1f" : "%.0f", value);
}

std::string share_text(double share) {
  return printed("%.1f%%", share * 100);
}

std::string limit_words(std::uint64_t limiters) {
  std::string words;
  auto const add = [&](std::uint64_t bits, char const* word) {
    if ((limiters & bits) == 0) return;
    if (!words.empty()) words += ", ";
    words += word;
  };
  add(limited_by::power_cap, "power");
  add(limited_by::heat, "thermal");
  add(limited_by::power_brake, "power brake");
  // The driver also sets this reason with the hardware reasons, which are more precise.
  if ((limiters & (limited_by::heat | limited_by::power_brake)) == 0)
    add(limited_by::slowdown, "slowdown");
  add(limited_by::application_clocks, "application clocks");
  add(limited_by::sync_boost, "sync boost");
  add(limited_by::display, "display clock");
  add(limited_by::nothing_to_do, "idle");
  add(~limited_by::all_known, "other");
  return words;
}

std::string group_title(std::string_view group) {
  if (group == "cuda_cores") return "CUDA cores";
  auto title = text::on_one_line(group);
  for (auto& c : title)
    if (c == '_') c = ' ';
  if (!title.empty())
    title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

std::string title_of(peak_result const& result) {
  auto title = text::on_one_line(result.title.empty() ? result.test : result.title);
  if (result.operands == "zeros") title += ", zeros";
  return title;
}

std::string note_on(peak_result const& result) {
  auto remark = text::on_one_line(result.remark);
  switch (result.outcome) {
    case peak_outcome::failed:
      return remark.empty() ? "failed" : "failed: " + remark;
    case peak_outcome::unavailable:
      return remark.empty() ? "not available" : "not available: " + remark;
    case peak_outcome::measured:
      break;
  }
  return remark;
}

}  // namespace gpuprof::host::report
