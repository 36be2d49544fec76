// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_pieces.hpp"

#include <algorithm>

namespace gpuprof::page {
namespace {

constexpr std::size_t max_depth = 64;      // of what overlaps on one stream or thread
constexpr std::size_t max_open = 16;       // of these lanes for ranges that never end
constexpr std::size_t longest_name = 300;  // bytes

std::string copy_name(captured_copy const& copy) {
  static constexpr std::string_view kinds[] = {"copy",
                                               "copy host to device",
                                               "copy device to host",
                                               "copy host to array",
                                               "copy array to host",
                                               "copy array to array",
                                               "copy array to device",
                                               "copy device to array",
                                               "copy device to device",
                                               "copy host to host",
                                               "copy between GPUs"};
  return std::string(copy.kind < std::size(kinds) ? kinds[copy.kind] : kinds[0]);
}

timeline_piece piece_of(captured_work const& work, std::string_view what) {
  return {{0, work.device, work.stream}, work.start_ns, work.duration_ns, what, max_depth};
}

}  // namespace

bool is_in(std::vector<captured_stretch> const& stretches, std::uint64_t moment_ns) noexcept {
  return std::any_of(stretches.begin(), stretches.end(), [&](captured_stretch const& one) {
    return one.begin_ns <= moment_ns && moment_ns < one.end_ns;
  });
}

std::size_t first_free(std::vector<used_lane> const& lanes, std::uint64_t start_ns) noexcept {
  std::size_t at = 0;
  while (at < lanes.size() && lanes[at].busy_until_ns > start_ns) ++at;
  return at;
}

std::string shortened_name(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  auto cut = longest_name;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0) == 0x80) --cut;  // UTF-8
  return std::string(name.substr(0, cut)) + "...";
}

void timeline_pieces::visit(std::function<void(timeline_piece const&)> const& add,
                            capture_visitor const& also,
                            std::vector<captured_stretch> const& within) {
  capture_visitor visitor = also;
  visitor.kernel = [&](captured_kernel const& kernel) {
    add(piece_of(kernel, kernel.base_name));
    if (also.kernel) also.kernel(kernel);
  };
  visitor.graph = [&](captured_graph const& graph) {
    add(piece_of(graph, "CUDA graph"));
    if (also.graph) also.graph(graph);
  };
  visitor.copy = [&](captured_copy const& copy) {
    add(piece_of(copy, copy_names_.try_emplace(copy.kind, copy_name(copy)).first->second));
    if (also.copy) also.copy(copy);
  };
  visitor.fill = [&](captured_fill const& fill) {
    add(piece_of(fill, "fill"));
    if (also.fill) also.fill(fill);
  };
  visitor.range = [&](captured_range const& range) {
    auto const [domain, is_new] = domains_.try_emplace(range.domain, domains_.size());
    if (is_new) domain_names_.push_back(range.domain);
    add({{1, range.os_thread, domain->second},
         range.start_ns,
         range.duration_ns,
         range.name,
         range.still_open ? max_open : max_depth});
    if (also.range) also.range(range);
  };
  visitor.call = [&](captured_call const& call) {
    add({{2, 0, call.os_thread}, call.start_ns, call.duration_ns, call.name, max_depth});
    if (also.call) also.call(call);
  };
  run_.visit(visitor, within);
}

std::string timeline_pieces::group_of(row_key const& row) const {
  if (row.group == 0) return "GPU " + std::to_string(row.of);
  return row.group == 1 ? "NVTX" : "CUDA calls";
}

std::string timeline_pieces::name_of(row_key const& row) const {
  if (row.group == 0) return "stream " + std::to_string(row.number);
  if (row.group == 2) return "thread " + std::to_string(row.number);
  auto const& domain = domain_names_[row.number];
  return "thread " + std::to_string(row.of) + (domain.empty() ? "" : ", " + shortened_name(domain));
}

}  // namespace gpuprof::page
