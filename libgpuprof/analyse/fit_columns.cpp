#include "analyse/fit_columns.hpp"

#include <algorithm>
#include <numeric>

namespace gpuprof {
namespace {

constexpr std::uint64_t enough_samples = 12;
constexpr std::size_t most_kinds = 400;  // those that ran longest
constexpr auto no_place = ~std::uint32_t{0};

/// Clocks are known of everything: they say nothing.
bool has_figure(sample_series const& samples,
                std::vector<std::optional<sampled_figure>> const& figures) {
  for (std::uint32_t c = 0; c < figures.size(); ++c)
    if (figures[c] && !samples.metric(c).runs_when_idle) return true;
  return false;
}

}  // namespace

fit_columns::fit_columns(sample_series const& samples, device_work const& work,
                         figure_grid const& figures)
    : samples_(samples),
      work_(work),
      wanted_(work.kinds().size()),
      own_(work.kinds().size()),
      touched_(work.kinds().size()),
      column_(work.kinds().size()),
      used_(samples.size()) {
  for (std::uint32_t kind = 0; kind < wanted_.size(); ++kind)
    wanted_[kind] =
        work.kinds()[kind].is == work_kind::what::launch && !has_figure(samples, figures[kind]);
  look_through();
  number();
}

void fit_columns::look_through() {
  sweep_samples(samples_, work_, [&](std::size_t s, std::span<work_part const> parts, double) {
    used_[s] = parts.empty() || std::any_of(parts.begin(), parts.end(), [&](work_part const& part) {
                 return wanted_[part.item->kind];
               });
    if (!used_[s]) return;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto const kind = parts[i].item->kind;
      bool const again = std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](auto const& p) { return p.item->kind == kind; });
      touched_[kind] += !again;
    }
  });
}

void fit_columns::number() {
  std::vector<std::uint32_t> longest(column_.size());
  std::iota(longest.begin(), longest.end(), 0u);
  std::stable_sort(longest.begin(), longest.end(), [this](std::uint32_t a, std::uint32_t b) {
    return work_.kinds()[a].ns > work_.kinds()[b].ns;
  });
  std::uint32_t next = 0;
  for (auto const kind : longest) {
    own_[kind] = touched_[kind] >= enough_samples && next < most_kinds;
    if (own_[kind]) column_[kind] = next++;
  }
  other_ = next++;
  idle_ = next++;
  for (std::size_t kind = 0; kind < own_.size(); ++kind)
    if (!own_[kind]) column_[kind] = other_;
  size_ = next;
  place_.assign(size_, no_place);
}

void fit_columns::put(std::uint32_t column, double value) {
  auto& place = place_[column];
  if (place == no_place) {
    place = static_cast<std::uint32_t>(row_.size());
    row_.emplace_back(column, 0.0);
  }
  row_[place].second += value;
}

std::vector<std::pair<std::uint32_t, double>> const& fit_columns::row(
    std::size_t sample, std::span<work_part const> parts, double busy) {
  row_.clear();
  for (auto const& part : parts) {
    auto const kind = part.item->kind;
    bool const is_launch = work_.kinds()[kind].is == work_kind::what::launch;
    if (!own_[kind])
      put(other_, part.ns);
    else
      put(column_[kind], part.share() * (is_launch ? 1.0 : double{part.item->bytes}));
  }
  if (auto const idle = samples_.intervals()[sample].ns() - busy; idle > 0) put(idle_, idle);
  for (auto const& [column, value] : row_) place_[column] = no_place;
  return row_;
}

}  // namespace gpuprof
