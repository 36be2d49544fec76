// SPDX-License-Identifier: Apache-2.0
// The tests of the links: copies between host and device, with pinned and pageable memory.
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"
#include "guest/peaks/experiments/workbench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace gpuprof::guest::peaks {
namespace {

constexpr std::uint64_t pinned_bytes =
    64 * mib;  // in one direction; less than 16 MiB does not saturate the link
constexpr std::uint64_t pageable_bytes = 32 * mib;
constexpr unsigned pinned_copies = 2;  // in a row, to halve the effect of the first start

/// Returns the best of several calls of `once`, which returns bytes per second.
template <class Once>
peak_figure best_of(lab& in, unsigned samples, Once const& once) {
  peak_figure figure;
  std::vector<double> rates;
  once();  // warms up page tables and copy engines
  for (unsigned i = 0; i < samples; ++i) {
    rates.push_back(once());
    if (rates.back() > figure.value) {
      figure.value = rates.back();
      figure.chip = in.read_chip();
    }
  }
  figure.samples = samples;
  figure.spread = spread_of(rates);
  return figure;
}

/// Fills memory so that all pages differ and a wrong copy is always detected.
void paint(std::byte* bytes, std::uint64_t count, unsigned salt) {
  for (std::uint64_t i = 0; i < count; i += 4096) {
    for (std::uint64_t j = 0; j < 4096; j += 8) {
      auto const value = (i + j) * 0x9E3779B97F4A7C15u + salt;
      std::memcpy(bytes + i + j, &value, sizeof value);
    }
  }
}

class pinned_experiment final : public experiment {
 public:
  pinned_experiment(lab& in, test_id test) : in_(in), test_(test) {}

  void measure(peak_result& into) override {
    into.method = "cuMemcpyAsync, copy engines";
    into.operands = "random";
    into.buffer_bytes = pinned_bytes;
    prepare();
    further_stream const back(in_.bench);
    into.burst = best_of(in_, in_.options.quick ? 3 : 5, [&] { return once(back.get()); });
    check();
  }

 private:
  bool to_device() const { return test_ != test_id::d2h; }
  bool to_host() const { return test_ != test_id::h2d; }

  void prepare() {
    if (in_.pinned.bytes() == 0) {
      in_.pinned = in_.bench.allocate_pinned(2 * pinned_bytes);
      paint(static_cast<std::byte*>(in_.pinned.on_host()), pinned_bytes, 1);
    }
    device_ = in_.bench.allocate(2 * pinned_bytes);
    auto& cuda = in_.bench.cuda();
    in_.bench.expect(
        cuda.cuMemcpyHtoD_v2(device_.device() + pinned_bytes, in_.pinned.on_host(), pinned_bytes),
        "cuMemcpyHtoD");
  }

  double once(CUstream other) const {
    auto& cuda = in_.bench.cuda();
    auto* const host = static_cast<std::byte*>(in_.pinned.on_host());
    auto const stream = in_.bench.stream();
    event begin(in_.bench), end(in_.bench), end_back(in_.bench);
    begin.record(stream);
    begin.hold(other);
    for (unsigned i = 0; i < pinned_copies; ++i) {
      if (to_device())
        in_.bench.expect(cuda.cuMemcpyHtoDAsync_v2(device_.device(), host, pinned_bytes, stream),
                         "cuMemcpyHtoDAsync");
      if (to_host())
        in_.bench.expect(
            cuda.cuMemcpyDtoHAsync_v2(host + pinned_bytes, device_.device() + pinned_bytes,
                                      pinned_bytes, other),
            "cuMemcpyDtoHAsync");
    }
    end.record(stream);
    end_back.record(other);
    in_.bench.wait();
    in_.bench.expect(cuda.cuStreamSynchronize(other), "cuStreamSynchronize");
    auto const seconds = std::max(end.seconds_since(begin), end_back.seconds_since(begin));
    auto const directions = to_device() && to_host() ? 2 : 1;
    return static_cast<double>(pinned_bytes) * pinned_copies * directions / seconds;
  }

  void check() const {
    auto const* const host = static_cast<std::byte const*>(in_.pinned.on_host());
    std::vector<std::byte> copied(mib);
    for (std::uint64_t at = 0; at < pinned_bytes; at += 31 * mib) {
      if (to_device()) in_.bench.copy_to_host(copied.data(), device_.device() + at, copied.size());
      bool const right =
          (!to_device() || std::memcmp(copied.data(), host + at, copied.size()) == 0) &&
          (!to_host() || std::memcmp(host + pinned_bytes + at, host + at, copied.size()) == 0);
      if (!right) throw no_figure(peak_outcome::failed, "its result is wrong: the copy differs");
    }
  }

  lab& in_;
  test_id test_;
  buffer device_;
};

/// For pageable memory: copies go through buffers of the driver, and the call returns when the copy
/// is done.
class pageable_experiment final : public experiment {
 public:
  pageable_experiment(lab& in, bool to_device) : in_(in), to_device_(to_device) {}

  void measure(peak_result& into) override {
    into.method = "cuMemcpy";
    into.operands = "random";
    into.buffer_bytes = pageable_bytes;
    auto const device = in_.bench.allocate(pageable_bytes);
    std::vector<std::byte> host(pageable_bytes), back(pageable_bytes);
    paint(host.data(), pageable_bytes, 2);
    auto& cuda = in_.bench.cuda();
    in_.bench.expect(cuda.cuMemcpyHtoD_v2(device.device(), host.data(), pageable_bytes),
                     "cuMemcpyHtoD");
    into.burst = best_of(in_, 3, [&] {
      auto const begin = std::chrono::steady_clock::now();
      if (to_device_) {
        in_.bench.expect(cuda.cuMemcpyHtoD_v2(device.device(), host.data(), pageable_bytes),
                         "cuMemcpyHtoD");
        in_.bench.wait();
      } else {
        in_.bench.copy_to_host(back.data(), device.device(), pageable_bytes);
      }
      std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
      return static_cast<double>(pageable_bytes) / taken.count();
    });
    in_.bench.copy_to_host(back.data(), device.device(), pageable_bytes);
    if (back != host)
      throw no_figure(peak_outcome::failed, "its result is wrong: the copy differs");
  }

 private:
  lab& in_;
  bool to_device_;
};

}  // namespace

std::unique_ptr<experiment> make_link_experiment(test_id test, lab& in) {
  switch (test) {
    case test_id::h2d:
    case test_id::d2h:
    case test_id::h2d_d2h:
      return std::make_unique<pinned_experiment>(in, test);
    case test_id::h2d_pageable:
      return std::make_unique<pageable_experiment>(in, true);
    case test_id::d2h_pageable:
      return std::make_unique<pageable_experiment>(in, false);
    default:
      return nullptr;
  }
}

}  // namespace gpuprof::guest::peaks
