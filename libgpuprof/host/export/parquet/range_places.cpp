// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/range_places.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace gpuprof {
namespace {

// A range that is never closed makes every later one a level deeper: from here on paths stay.
constexpr std::size_t long_path_bytes = 4096;

bool is_step(std::string_view name) {
  constexpr std::string_view word = "step";
  return std::search(name.begin(), name.end(), word.begin(), word.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

std::string_view without_number(std::string_view name) {
  auto const last = name.find_last_not_of("0123456789");
  return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

range_places::range_places(export_job& job) : launched_(&job.trace.launched(range_scope::process)) {
  auto const& tree = job.trace.ranges();
  places_.resize(tree.size());
  take_paths(tree, job.names);
  count_steps(tree, job.names);
}

void range_places::take_paths(range_tree const& tree, exported_names& names) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> known;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const& range = tree[i];
    auto const& around = of(range.parent);  // an index below: done already
    places_[i].name = names_->code_of(names.text(range.name));
    auto const [at, is_new] = known.try_emplace({around.path, places_[i].name}, around.path);
    if (is_new) {
      auto const& outer = around.path == no_text
                              ? std::string_view{}
                              : paths_->texts()[static_cast<std::size_t>(around.path)];
      if (outer.size() < long_path_bytes) {
        auto text =
            std::string(outer) + (around.path == no_text ? "" : "/") + names.text(range.name);
        path_texts_.push_back(std::make_unique<std::string const>(std::move(text)));
        at->second = paths_->code_of(*path_texts_.back());
      }
    }
    places_[i].path = at->second;
  }
}

void range_places::count_steps(range_tree const& tree, exported_names& names) {
  std::map<std::tuple<std::string_view, name_id, range_style>, std::int64_t> seen;
  std::vector<bool> in_named(tree.size());  // a range with "step" in its name is around it
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const& range = tree[i];
    auto const outer = range.around();
    auto const has_parent = outer < i;
    auto const name = std::string_view(names.text(range.name));
    if (has_parent && (in_named[outer] || !is_step(name))) {
      places_[i].step = places_[outer].step;
      in_named[i] = in_named[outer];
      continue;
    }
    in_named[i] = is_step(name);
    places_[i].step = seen[{without_number(name), range.domain, range.style}]++;
  }
}

}  // namespace gpuprof
