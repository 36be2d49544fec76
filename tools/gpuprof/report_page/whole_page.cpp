// SPDX-License-Identifier: Apache-2.0
#include "report_page/whole_page.hpp"

#include "base/result.hpp"
#include "comparison/comparison_output.hpp"
#include "comparison/read_sides.hpp"
#include "host/compare/run_digest.hpp"
#include "host/page/packed_columns.hpp"
#include "ranks/capture_set.hpp"
#include "report_page/json_members.hpp"
#include "report_page/page_documents.hpp"
#include "report_page/rank_document.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

/// Writes the part of a page that compares two sides, as `gpuprof compare` does.
///
/// {"headlines": [...], "compare": as `gpuprof compare -f json` has it}, or {"missing": "why"} for
/// captures of different programs, unless these are allowed.
result<std::string> comparison_document(std::vector<std::string> const& base,
                                        std::vector<std::string> const& fresh,
                                        std::string const& step_name, bool different_programs) {
  auto const sides = read_sides(base, fresh, step_name);
  if (!sides) return error{sides.message()};
  json_members members;
  auto const differ = compare::programs_differ(sides->base, sides->fresh);
  if (!differ.empty() && !different_programs) {
    members.add_text("missing", "The captures are of different programs: " + differ +
                                    "; nothing is compared, --different-programs does it all the "
                                    "same.");
    return std::move(members).take();
  }
  auto const compared = compare::compare_runs(sides->base, sides->fresh);
  compared_sides const both{sides->base, sides->fresh};
  members.add_texts("headlines", headlines_of(compared, both));
  members.add("compare") += comparison_json(compared, both, {});
  return std::move(members).take();
}

// A browser can sort this many lines of a table without delay.
constexpr std::size_t max_rows = 5000, least_rows = 500, least_bars = 7500;
constexpr std::size_t max_paths = 2000,
                      least_paths = 200;  // further ones are narrower than a pixel
// Histograms and points of this many kernels take half a megabyte.
constexpr std::size_t max_kernels = 200, least_kernels = 10;
// Further captures have only the data for comparison, because the page must be small enough to
// mail.
constexpr std::size_t max_with_parts = 64;

std::string file_name_of(std::string const& path) {
  return std::filesystem::path(path).filename().string();
}

result<page::page_contents> page_of_one(page_inputs const& inputs) {
  auto parts = read_parts({.capture = inputs.captures.front(),
                           .step = inputs.step,
                           .whole_run = inputs.whole_run,
                           .max_bars = inputs.max_bars,
                           .max_rows = max_rows,
                           .max_paths = max_paths,
                           .max_kernels = max_kernels,
                           .advance = inputs.advance});
  if (!parts) return error{parts.message()};
  return page::page_contents{file_name_of(inputs.captures.front()) + " - gpuprof report",
                             std::move(parts->blocks)};
}

/// The captures that a reader may choose from, and the embedded data of each.
class several_captures {
 public:
  several_captures(page_inputs const& inputs, page::page_contents& to, std::size_t count)
      : inputs_(inputs), to_(to), with_parts_(std::min(count, max_with_parts)) {}

  /// Limits for the parts of a capture, because all captures share a page.
  parts_inputs of(std::string const& path) const {
    return {.capture = path,
            .step = inputs_.step,
            .whole_run = inputs_.whole_run,
            .max_bars = std::max(inputs_.max_bars / with_parts_, least_bars),
            .max_rows = std::max(max_rows / with_parts_, least_rows),
            .max_paths = std::max(max_paths / with_parts_, least_paths),
            .max_kernels = std::max(max_kernels / with_parts_, least_kernels),
            .advance = inputs_.advance};
  }

  std::size_t with_parts() const noexcept { return with_parts_; }

  /// Adds the parts, if the capture is one of the `with_parts()` that have them, and in any case
  /// the time ledger.
  result<report::ledger> add(std::string const& path, std::string const& label, bool has_parts) {
    auto const number = count_++;
    capture_parts parts;
    if (has_parts) {
      auto read = read_parts(of(path));
      if (!read) return error{read.message()};
      parts = *std::move(read);
    } else if (auto const read = advice_document({.captures = {path},
                                                  .filters = {},
                                                  .step = {.name = inputs_.step.name},
                                                  .rules = {},
                                                  .whole_run = inputs_.whole_run},
                                                 &parts.time);
               !read) {
      return error{read.message()};
    }
    for (auto& [name, bytes] : parts.blocks)
      to_.blocks.push_back({"capture-" + std::to_string(number) + "-" + name, std::move(bytes)});
    json_members members;
    members.add_text("label", label);
    members.add("has_parts") += has_parts ? "true" : "false";
    list_ += (list_.empty() ? "[" : ",") + std::move(members).take();
    return std::move(parts.time);
  }

  /// `what`: "rank" or "capture".
  void finish(std::string_view what) {
    json_members members;
    members.add_text("what", what);
    members.add("max_bars") += std::to_string(of({}).max_bars);
    members.add("max_rows") += std::to_string(of({}).max_rows);
    members.add("captures") += list_ + "]";
    to_.blocks.push_back({"captures", page::packed(std::move(members).take())});
  }

 private:
  page_inputs const& inputs_;
  page::page_contents& to_;
  std::size_t const with_parts_;
  std::size_t count_ = 0;
  std::string list_;
};

result<page::page_contents> page_of_ranks(page_inputs const& inputs) {
  auto set = read_capture_set(inputs.captures);
  if (!set) return error{set.message()};
  page::page_contents contents;
  contents.title = std::to_string(set->captures.size()) + " ranks - gpuprof report";
  several_captures several(inputs, contents, set->captures.size());
  rank_steps steps(set->captures.size());
  rank_reading read;
  for (auto const& capture : set->captures)
    if (auto const done = read.add(capture, inputs.step.name); !done) return error{done.message()};
  auto const chosen = read.slowest(several.with_parts());
  for (std::size_t i = 0; i < set->captures.size(); ++i) {
    auto const& capture = set->captures[i];
    auto time = several.add(capture.path, capture.label, chosen.count(i) > 0);
    if (!time) return error{time.message()};
    steps.add(*time);
  }
  several.finish("rank");
  auto document = rank_document(*set, inputs, read, steps);
  if (!document) return error{document.message()};
  contents.blocks.push_back({"ranks", page::packed(*document)});
  return contents;
}

result<page::page_contents> page_of_sides(page_inputs const& inputs) {
  page::page_contents contents;
  contents.title = file_name_of(inputs.captures.front()) + " against " +
                   file_name_of(inputs.against.front()) + " - gpuprof report";
  // Called first, because it says if captures cannot be compared.
  auto document = comparison_document(inputs.captures, inputs.against, inputs.step.name,
                                      inputs.different_programs);
  if (!document) return error{document.message()};
  auto const base = inputs.captures.size(), fresh = inputs.against.size();
  several_captures several(inputs, contents, base + fresh);
  auto const half = several.with_parts() / 2;
  auto const of_base = std::min(base, std::max(half, several.with_parts() - std::min(half, fresh)));
  auto const add = [&](std::string const& side, std::vector<std::string> const& files,
                       std::size_t with_parts) -> result<void> {
    for (std::size_t i = 0; i < files.size(); ++i)
      if (auto const time = several.add(files[i], side + file_name_of(files[i]), i < with_parts);
          !time)
        return error{time.message()};
    return {};
  };
  if (auto const done = add("base: ", inputs.captures, of_base); !done)
    return error{done.message()};
  if (auto const done = add("new: ", inputs.against, several.with_parts() - of_base); !done)
    return error{done.message()};
  several.finish("capture");
  contents.blocks.push_back({"comparison", page::packed(*document)});
  return contents;
}

}  // namespace

result<page::page_contents> read_page(page_inputs const& inputs) {
  if (!inputs.against.empty()) return page_of_sides(inputs);
  return inputs.captures.size() > 1 ? page_of_ranks(inputs) : page_of_one(inputs);
}

}  // namespace gpuprof::host::command
