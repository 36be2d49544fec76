// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/capture_windows.hpp"

#include "model/ids.hpp"

#include <algorithm>
#include <bit>

namespace gpuprof::guest {

void capture_windows::window::saw(correlation_id launch) noexcept {
  if (raw(first) == 0 || is_before(launch, first)) first = launch;
}

bool capture_windows::window::may_hold(timestamp_ns begin, correlation_id launch) const noexcept {
  return raw(first) == 0 || begin > start + ids_are_unique_for || !is_before(launch, first);
}

void capture_windows::open(timestamp_ns start) {
  if (open_) close(start);
  open_ = {start, {}, {}, early_.oldest_since(start, steps_)};
  latest_ = start;
  was_set_back_ = false;
}

void capture_windows::clock_is_at(timestamp_ns now) noexcept {
  if (!open_) return;
  if (now < latest_) {
    was_set_back_ = true;
    open_->start = std::min(open_->start, now);
  }
  latest_ = std::max(latest_, now);
}

void capture_windows::close(timestamp_ns end) {
  if (!open_) return;
  if (end < open_->start) clock_is_at(end);
  auto closed = *open_;
  closed.end = was_set_back_ ? std::max(end, latest_) : end;
  auto place = std::upper_bound(closed_.begin(), closed_.end(), closed.start,
                                [](timestamp_ns t, window const& w) { return t < w.start; });
  auto const is_last = place == closed_.end();
  place = closed_.insert(place, closed);
  open_.reset();
  for (auto latest = place == closed_.begin() ? timestamp_ns{} : std::prev(place)->latest_end;
       place != closed_.end(); ++place, ++steps_)
    latest = place->latest_end = std::max(latest, place->end);
  if (closed_.size() <= max_kept) return;
  if (is_last)
    closed_.pop_front();
  else
    closed_.pop_back();
}

template <class Windows, class Use>
bool capture_windows::any_closed(Windows& windows, timestamp_ns t, Use use) const {
  steps_ += static_cast<std::uint64_t>(std::bit_width(windows.size()));
  auto after =
      std::upper_bound(windows.begin(), windows.end(), t,
                       [](timestamp_ns moment, window const& w) { return moment < w.start; });
  while (after != windows.begin()) {
    --after;
    ++steps_;
    if (after->latest_end < t) return false;
    if (t <= after->end && use(*after)) return true;
  }
  return false;
}

bool capture_windows::contain(timestamp_ns t) const noexcept {
  if (open_ && t >= open_->start) return true;
  return any_closed(closed_, t, [](window const&) { return true; });
}

bool capture_windows::may_hold(timestamp_ns start, correlation_id launch) const noexcept {
  if (open_ && start >= open_->start && open_->may_hold(start, launch)) return true;
  return any_closed(closed_, start, [&](window const& w) { return w.may_hold(start, launch); });
}

void capture_windows::saw(timestamp_ns launched, correlation_id launch) {
  early_.add(launched, launch);
  if (open_ && launched >= open_->start) return open_->saw(launch);
  any_closed(closed_, launched, [launch](window& w) {
    w.saw(launch);
    return true;
  });
}

void capture_windows::early_launches::add(timestamp_ns launched, correlation_id id) {
  launches_.push_back({launched, id, id});
  is_sorted_ = false;
}

correlation_id capture_windows::early_launches::oldest_since(timestamp_ns t, std::uint64_t& steps) {
  if (!is_sorted_) {
    steps += launches_.size();
    std::sort(launches_.begin(), launches_.end(),
              [](launch const& a, launch const& b) { return a.time < b.time; });
    for (auto i = launches_.size(); i-- > 0;) {
      launches_[i].oldest = launches_[i].id;
      if (i + 1 < launches_.size() && is_before(launches_[i + 1].oldest, launches_[i].oldest))
        launches_[i].oldest = launches_[i + 1].oldest;
    }
    is_sorted_ = true;
  }
  steps += static_cast<std::uint64_t>(std::bit_width(launches_.size()));
  auto const first = std::lower_bound(launches_.begin(), launches_.end(), t,
                                      [](launch const& l, timestamp_ns m) { return l.time < m; });
  return first == launches_.end() ? correlation_id{} : first->oldest;
}

void capture_windows::early_launches::clear() noexcept {
  launches_.clear();
  is_sorted_ = true;
}

}  // namespace gpuprof::guest
