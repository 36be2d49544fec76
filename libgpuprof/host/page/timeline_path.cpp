// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_path.hpp"

#include "host/page/timeline_pieces.hpp"

#include <utility>

namespace gpuprof::host::page {
namespace {

std::int64_t length_ns(traced_link const& link) noexcept {
  return (link.end - link.begin).value;
}

/// Joins neighbors that lie within such a stretch of time.
std::vector<traced_link> joined_within(std::vector<traced_link> links, std::int64_t stretch_ns) {
  std::vector<traced_link> made;
  std::int64_t longest_ns = 0;  // of the links in the last one
  for (auto& link : links) {
    auto const length = length_ns(link);
    if (made.empty() || (link.end - made.back().begin).value > stretch_ns) {
      longest_ns = length;
      made.push_back(std::move(link));
      continue;
    }
    auto const begin = made.back().begin, end = link.end;
    if (length > longest_ns) {
      longest_ns = length;
      made.back() = std::move(link);
    }
    made.back().begin = begin;
    made.back().end = end;
  }
  return made;
}

}  // namespace

link_row row_of(traced_link const& link) {
  row_key row;
  if (link.is_on_gpu)
    row = {0, raw(link.device), raw(link.stream)};
  else if (link.kind == "calls")
    row = {2, 0, link.os_thread};
  else
    row = {1, link.os_thread, 0};
  return {timeline_pieces::group_of(row), timeline_pieces::name_in_group(row)};
}

std::vector<traced_link> joined_links(std::vector<traced_link> links, std::size_t max_links) {
  if (links.size() <= max_links || max_links == 0) return links;
  auto const whole_ns = (links.back().end - links.front().begin).value;
  for (auto stretch_ns = whole_ns / static_cast<std::int64_t>(max_links) + 1;
       links.size() > max_links; stretch_ns *= 2)
    links = joined_within(std::move(links), stretch_ns);
  return links;
}

}  // namespace gpuprof::host::page
