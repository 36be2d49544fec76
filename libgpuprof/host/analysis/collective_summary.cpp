// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/collective_summary.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gpuprof::host {
namespace {

/// Returns the text that follows "key": in a flat JSON object.
std::string_view value_of(std::string_view json, std::string_view key) {
  auto quoted = std::string(1, '"').append(key).append("\":");
  auto const at = json.find(quoted);
  if (at == std::string_view::npos) return {};
  auto value = json.substr(at + quoted.size());
  if (!value.starts_with('"')) return value.substr(0, value.find_first_of(",}"));
  value.remove_prefix(1);
  return value.substr(0, value.find('"'));
}

std::uint64_t number_of(std::string_view json, std::string_view key) {
  auto const text = value_of(json, key);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

constexpr std::string_view communicator = "NCCL communicator ID";

/// Returns "allreduce" for "ncclAllReduce", "reducescatterbase" for "_reduce_scatter_base".
std::string bare_name(std::string_view name) {
  std::string letters;
  for (char const c : name)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters.starts_with("nccl") ? letters.substr(4) : letters;
}

/// Returns 0 for an unknown type.
std::uint64_t bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::uint64_t> sizes[] = {
      {"ComplexDouble", 16}, {"ComplexFloat", 8}, {"Double", 8}, {"Long", 8},
      {"Float8", 1},         {"Float", 4},        {"Int", 4},    {"BFloat16", 2},
      {"Half", 2},           {"Short", 2},        {"UInt16", 2}, {"UInt32", 4},
      {"UInt64", 8},         {"Byte", 1},         {"Char", 1},   {"Bool", 1}};
  for (auto const& [name, bytes] : sizes)
    if (type.starts_with(name)) return bytes;
  return 0;
}

/// Returns the share of a message that crosses the link of one of `n` ranks, as nccl-tests computes
/// it.
std::optional<double> bus_share(std::string_view collective, std::uint32_t n) {
  auto const is = [&](std::string_view word) {
    return collective.find(word) != std::string_view::npos;
  };
  if (is("allreduce") || is("allgather") || is("reducescatter") || is("alltoall")) {
    if (n == 0) return std::nullopt;
    return (is("allreduce") ? 2.0 : 1.0) * (n - 1) / n;
  }
  return 1;
}

}  // namespace

collective_arguments collective_arguments_in(std::string_view name, std::string_view payload) {
  collective_arguments found;
  found.name = name;
  found.type = value_of(payload, "dtype");
  found.group = value_of(payload, "Process Group Name");
  if (auto const ranks = value_of(payload, "Process Group Ranks"); !ranks.empty())
    found.group.append(found.group.empty() ? "" : " ").append(ranks);
  if (found.group.empty()) found.group = value_of(payload, communicator);
  found.group_size = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number_of(payload, "Group size"), UINT32_MAX));
  auto const bare = bare_name(name);
  auto const is_shared_out = bare.find("allgather") != std::string::npos ||
                             bare.find("reducescatter") != std::string::npos;
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;
  auto const elements =
      std::max(number_of(payload, "In msg nelems"), number_of(payload, "Out msg nelems"));
  found.bytes = elements < most_elements ? elements * bytes_of_type(found.type) : 0;
  // NCCL reports the size of one rank's part.
  if (found.bytes == 0 && !is_shared_out) found.bytes = number_of(payload, "Message size [bytes]");
  return found;
}

std::size_t collective_times::place_of(name_id name, name_id payload) {
  auto const [known, is_new] = by_payload_.try_emplace({name, payload});
  if (!is_new) return known->second;
  auto const arguments = collective_arguments_in(text_(name), text_(payload));
  auto const [at, is_first] = places_.try_emplace(arguments, all_.size());
  if (is_first) all_.emplace_back(arguments, samples{});
  return known->second = at->second;
}

/// NCCL says it where a communicator is made or destroyed, and not with each collective.
void collective_times::learn_size_of_group(name_id payload) {
  auto const said = text_(payload);
  auto const id = value_of(said, communicator);
  auto const size = std::max(number_of(said, "No. of ranks"), number_of(said, "No. of devices"));
  if (!id.empty() && id != "0" && size > 0 && size <= UINT32_MAX)
    group_sizes_[std::string(id)] = static_cast<std::uint32_t>(size);
}

void collective_times::add(mark_record const& mark) {
  if (mark.payload != payload_kind::text || text_(mark.domain) != nccl_domain) return;
  learn_size_of_group(static_cast<name_id>(mark.payload_bits));
  marked_[{mark.thread, mark.time}] = place_of(mark.name, static_cast<name_id>(mark.payload_bits));
}

void collective_times::add(range_begin const& range) {
  if (range.payload != payload_kind::text || text_(range.domain) != nccl_domain) return;
  learn_size_of_group(static_cast<name_id>(range.payload_bits));
  ranges_[range.range] = place_of(range.name, static_cast<name_id>(range.payload_bits));
}

void collective_times::add(kernel_record const& kernel) {
  auto const is_known = kernel.launched.value != 0;
  auto const mark = marked_.find(
      {is_known ? kernel.thread : thread_index{}, is_known ? kernel.launched : kernel.start});
  if (mark != marked_.end()) return all_[mark->second].second.add(nanoseconds(kernel.duration));
  if (auto const range = ranges_.find(kernel.range); range != ranges_.end())
    all_[range->second].second.add(nanoseconds(kernel.duration));
}

std::vector<collective_rate_row> collective_times::rows() {
  std::vector<collective_rate_row> rows;
  for (auto& [arguments, times] : all_) {
    if (times.count() == 0) continue;
    collective_rate_row row{arguments, times.summarize(), {}, {}};
    auto& group_size = row.arguments.group_size;
    if (auto const known = group_sizes_.find(arguments.group);
        group_size == 0 && known != group_sizes_.end())
      group_size = known->second;
    if (arguments.bytes != 0 && row.time.median > 0) {
      row.message_rate = static_cast<double>(arguments.bytes) * 1e9 / row.time.median;
      if (auto const share = bus_share(bare_name(arguments.name), group_size))
        row.bus_rate = *row.message_rate * *share;
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](auto const& a, auto const& b) { return a.time.total > b.time.total; });
  return rows;
}

}  // namespace gpuprof::host
