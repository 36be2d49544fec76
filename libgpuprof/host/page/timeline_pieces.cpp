// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_pieces.hpp"

#include <algorithm>

namespace gpuprof::host::page {
namespace {

constexpr std::size_t max_depth = 64;      // of overlapping pieces on one stream or thread
constexpr std::size_t max_open = 16;       // of these lanes, for ranges that never end
constexpr std::size_t longest_name = 300;  // bytes

std::string copy_name(captured_copy_kind kind) {
  if (kind == captured_copy_kind::peer_to_peer) return "copy between GPUs";
  auto const name = name_of(kind);
  return name.empty() ? "copy" : "copy " + std::string(name);
}

timeline_piece piece_of_work(captured_work const& work, std::string_view what) {
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

void timeline_pieces::read(std::function<void(timeline_piece const&)> const& add,
                           record_listener* also, std::vector<captured_stretch> const& within) {
  capture_query query;
  if (also != nullptr)
    query.add<captured_kernel>().add<captured_sample>().add<captured_chip_state>();
  else
    query.add<captured_kernel>(&captured_kernel::device, &captured_kernel::stream,
                               &captured_kernel::duration_ns, &captured_kernel::base_name);
  query.add<captured_graph>().add<captured_copy>().add<captured_fill>();
  query.add<captured_range>();
  query.add<captured_call>(&captured_call::os_thread, &captured_call::duration_ns,
                           &captured_call::name);
  for (auto const& stretch : within) query.within(stretch);

  record_listener nobody;
  auto& listener = also != nullptr ? *also : nobody;
  auto const hear = [&](auto const& records) {
    for (auto const& record : records) {
      if (auto const piece = piece_of(record)) add(*piece);
      listener.add(record);
    }
  };
  for (auto const& batch : run_.read(query)) {
    hear(batch.as<captured_kernel>());
    hear(batch.as<captured_graph>());
    hear(batch.as<captured_copy>());
    hear(batch.as<captured_fill>());
    hear(batch.as<captured_range>());
    hear(batch.as<captured_call>());
    hear(batch.as<captured_sample>());
    hear(batch.as<captured_chip_state>());
  }
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_kernel const& kernel) {
  return piece_of_work(kernel, kernel.base_name);
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_graph const& graph) {
  return piece_of_work(graph, "CUDA graph");
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_copy const& copy) {
  return piece_of_work(copy,
                       copy_names_.try_emplace(copy.kind, copy_name(copy.kind)).first->second);
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_fill const& fill) {
  return piece_of_work(fill, "fill");
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_range const& range) {
  auto const [domain, is_new] = domains_.try_emplace(range.domain, domains_.size());
  if (is_new) domain_names_.push_back(range.domain);
  return timeline_piece{{1, range.os_thread, domain->second},
                        range.start_ns,
                        range.duration_ns,
                        range.name,
                        range.still_open ? max_open : max_depth};
}

std::optional<timeline_piece> timeline_pieces::piece_of(captured_call const& call) {
  return timeline_piece{
      {2, 0, call.os_thread}, call.start_ns, call.duration_ns, call.name, max_depth};
}

std::string timeline_pieces::group_of(row_key const& row) {
  if (row.group == 0) return "GPU " + std::to_string(row.of);
  return row.group == 1 ? "NVTX" : "CUDA calls";
}

std::string timeline_pieces::name_in_group(row_key const& row) {
  if (row.group == 0) return "stream " + std::to_string(row.number);
  return "thread " + std::to_string(row.group == 1 ? row.of : row.number);
}

std::string timeline_pieces::name_of(row_key const& row) const {
  auto const domain = row.group == 1 ? domain_names_[row.number] : std::string_view();
  return name_in_group(row) + (domain.empty() ? "" : ", " + shortened_name(domain));
}

}  // namespace gpuprof::host::page
