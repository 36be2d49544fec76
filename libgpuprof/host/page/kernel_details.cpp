// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_details.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

namespace gpuprof::host::page {

void kernel_samples::work(std::uint32_t device, std::uint64_t start_ns, std::uint64_t end_ns,
                          std::uint32_t kernel) {
  auto& state = devices_[device];
  settle(state, start_ns);
  state.work.push_back({start_ns, end_ns, kernel});
}

void kernel_samples::sample(std::uint32_t device, std::uint64_t start_ns, std::uint64_t duration_ns,
                            std::string_view metric, double value) {
  if (duration_ns == 0) return;
  auto& state = devices_[device];
  settle(state, start_ns);
  if (metric.ends_with(".sum")) value *= 1e9 / static_cast<double>(duration_ns);
  state.waiting.push_back({start_ns, start_ns + duration_ns, number_of(metric), value});
}

void kernel_samples::finish() {
  for (auto& [device, state] : devices_) settle(state, std::numeric_limits<std::uint64_t>::max());
}

/// All work that began before `now` is known. So all work during samples that ended by then is
/// known.
void kernel_samples::settle(device_state& device, std::uint64_t now) {
  auto const is_over = [now](auto const& one) { return one.end <= now; };
  for (auto const& one : device.waiting)
    if (is_over(one)) place(device, one);
  std::erase_if(device.waiting, is_over);
  auto const needed = device.waiting.empty() ? now : device.waiting.front().start;
  std::erase_if(device.work, [&](piece const& one) { return one.end <= std::min(now, needed); });
}

void kernel_samples::place(device_state const& device, waiting_sample const& sample) {
  piece const* alone = nullptr;
  for (auto const& one : device.work) {
    if (one.end <= sample.start || one.start >= sample.end) continue;
    if (alone != nullptr) return;
    alone = &one;
  }
  if (alone == nullptr || alone->kernel == not_watched) return;
  if (alone->start > sample.start || alone->end < sample.end) return;
  auto const middle = sample.start + (sample.end - sample.start) / 2 - alone->start;
  auto const at = static_cast<std::size_t>(static_cast<double>(middle) /
                                           static_cast<double>(alone->end - alone->start) *
                                           sample_course::positions);
  auto& course = courses_[alone->kernel][sample.metric];
  auto const position = std::min(at, sample_course::positions - 1);
  course.sum[position] += sample.value;
  ++course.samples[position];
}

std::uint32_t kernel_samples::number_of(std::string_view metric) {
  auto const known = std::find(metrics_.begin(), metrics_.end(), metric);
  if (known == metrics_.end()) {
    metrics_.emplace_back(metric);
    return static_cast<std::uint32_t>(metrics_.size() - 1);
  }
  return static_cast<std::uint32_t>(known - metrics_.begin());
}

std::vector<sample_course> kernel_samples::of(std::uint32_t kernel) const {
  std::vector<sample_course> made;
  auto const found = courses_.find(kernel);
  if (found == courses_.end()) return made;
  for (auto const& [metric, course] : found->second) {
    made.push_back(course);
    made.back().metric = metrics_[metric];
  }
  return made;
}

namespace {

constexpr std::string_view other_kernels = "(others)";

std::string signature_text(std::string_view name, captured_extent const& grid,
                           captured_extent const& block) {
  std::string text(name);
  for (auto const number : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
    text += ' ' + std::to_string(number);
  return text;
}

launch_geometry geometry_of(captured_kernel const& kernel) {
  return {kernel.device,
          kernel.grid,
          kernel.block,
          kernel.cluster,
          kernel.registers_per_thread,
          kernel.static_shared_bytes,
          kernel.dynamic_shared_bytes,
          kernel.local_bytes_per_thread,
          kernel.shared_bytes_unknown};
}

void add_to(line_details& line, captured_kernel const& kernel, bool is_own_length) {
  if (!is_own_length) {
    ++line.left_out;
    return;
  }
  line.durations.add(kernel.duration_ns);
  line.over_time.add(kernel.start_ns, kernel.duration_ns);
}

}  // namespace

kernel_details::kernel_details(std::vector<watched_line> const& kernels,
                               std::vector<watched_line> const& signatures, limits const& most)
    : most_(most), neighbors_(most.pairs), places_(most.pairs) {
  for (auto const& line : kernels) {
    by_name_.emplace(line.name, static_cast<std::uint32_t>(names_.size()));
    names_.push_back(line.name);
    of_kernels_.emplace_back(line, most.points);
  }
  for (auto const& line : signatures) {
    signature_by_text_.emplace(signature_text(line.name, *line.grid, *line.block),
                               static_cast<std::uint32_t>(of_signatures_.size()));
    of_signatures_.emplace_back(line, most.points / 4);
  }
}

std::size_t kernel_details::hash_of_shape::operator()(shape_key const& key) const noexcept {
  // Mixes two numbers at a time, each pair with its own factor, so that the products do not wait
  // for each other.
  std::uint64_t hash = std::hash<char const*>()(key.name) * 0x9e3779b97f4a7c15u;
  std::uint64_t factor = 0xbf58476d1ce4e5b9u;
  for (std::size_t i = 0; i + 1 < key.numbers.size(); i += 2) {
    hash += (std::uint64_t{key.numbers[i]} << 32 | key.numbers[i + 1]) * factor;
    factor = std::rotl(factor, 7);
  }
  return hash ^ hash >> 29;
}

kernel_details::shape_key kernel_details::key_of(captured_kernel const& k) {
  return {std::to_address(k.name.begin()),
          {k.device, k.grid.x, k.grid.y, k.grid.z, k.block.x, k.block.y, k.block.z, k.cluster.x,
           k.cluster.y, k.cluster.z, k.registers_per_thread, k.static_shared_bytes,
           k.dynamic_shared_bytes, k.local_bytes_per_thread, k.shared_bytes_unknown}};
}

std::uint32_t kernel_details::number_of(std::string_view name) {
  if (auto const known = by_name_.find(name); known != by_name_.end()) return known->second;
  if (names_.size() >= most_.names + watched()) name = other_kernels;
  auto const [known, is_new] =
      by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return known->second;
}

kernel_details::shape_lines kernel_details::lines_of_new(captured_kernel const& kernel) {
  shape_lines lines;
  lines.kernel = number_of(kernel.name);
  auto const signature =
      signature_by_text_.find(signature_text(kernel.name, kernel.grid, kernel.block));
  if (signature != signature_by_text_.end()) lines.signature = signature->second;
  lines.used.geometry = geometry_of(kernel);
  return lines;
}

kernel_details::shape_lines& kernel_details::lines_of(captured_kernel const& kernel) {
  auto const key = key_of(kernel);
  if (auto const known = shapes_.find(key); known != shapes_.end()) return known->second;
  if (shapes_.size() < most_.names) return shapes_.emplace(key, lines_of_new(kernel)).first->second;
  not_told_apart_ = lines_of_new(kernel);
  return not_told_apart_;
}

void kernel_details::open(captured_range const& range) {
  auto const name = range.domain.empty()
                        ? std::string(range.name)
                        : std::string(range.domain) + ":" + std::string(range.name);
  if (range.style == captured_range_style::push_pop)
    return places_.open(range.id, range.parent, name);
  // A launch exactly at the end of the range counts as inside, as in `gpuprof stats`.
  auto const end = range.still_open ? std::numeric_limits<std::uint64_t>::max()
                                    : range.start_ns + range.duration_ns + 1;
  places_.add_start_end(range.start_ns, end, name);
}

void kernel_details::add(captured_kernel const& kernel, std::optional<std::uint64_t> undisturbed) {
  auto& lines = lines_of(kernel);
  auto const length = undisturbed.value_or(kernel.duration_ns);
  ++lines.used.launches;
  lines.used.total_ns += length;
  if (lines.kernel < watched()) add_to(of_kernels_[lines.kernel], kernel, !undisturbed);
  if (lines.signature) add_to(of_signatures_[*lines.signature], kernel, !undisturbed);
  neighbors_.add(kernel.device, kernel.context, kernel.stream, lines.kernel);
  places_.add(lines.kernel, length, {kernel.range, kernel.graph, kernel.launched_ns});
  samples_.work(
      kernel.device, kernel.start_ns, kernel.start_ns + kernel.duration_ns,
      lines.kernel < watched() && !undisturbed ? lines.kernel : kernel_samples::not_watched);
}

void kernel_details::add_other(captured_work const& work) {
  samples_.work(work.device, work.start_ns, work.start_ns + work.duration_ns,
                kernel_samples::not_watched);
}

void kernel_details::add(captured_sample const& sample) {
  samples_.sample(sample.device, sample.start_ns, sample.duration_ns, sample.metric, sample.value);
}

std::vector<used_geometry> kernel_details::geometries(std::size_t kernel) const {
  std::vector<decltype(shapes_)::value_type const*> found;
  for (auto const& shape : shapes_)
    if (shape.second.kernel == kernel) found.push_back(&shape);
  std::sort(found.begin(), found.end(), [](auto const* a, auto const* b) {
    auto const &one = a->second.used, &other = b->second.used;
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns
                                          : a->first.numbers < b->first.numbers;
  });
  std::vector<used_geometry> all;
  for (auto const* shape : found)
    if (all.size() < most_.geometries) all.push_back(shape->second.used);
  return all;
}

std::vector<kernel_surroundings> kernel_details::surroundings() const {
  return neighbors_.of_each(watched(), most_.neighbors);
}

}  // namespace gpuprof::host::page
