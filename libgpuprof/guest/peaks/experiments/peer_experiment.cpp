// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"
#include "guest/peaks/experiments/workbench.hpp"

#include <algorithm>
#include <cstring>

namespace gpuprof::guest::peaks {
namespace {

constexpr std::uint64_t bytes = 256ull * 1024 * 1024;

/// Enables direct access between the memories of two GPUs, if possible, while the object exists.
class direct_access {
 public:
  direct_access(workbench const& from, workbench const& to)
      : from_(from), to_(to), there_(open(from, to)), back_(open(to, from)) {}
  ~direct_access() {
    if (there_) close(from_, to_);
    if (back_) close(to_, from_);
  }
  direct_access(direct_access const&) = delete;
  direct_access& operator=(direct_access const&) = delete;

  bool is_there() const noexcept { return there_ && back_; }

 private:
  /// Returns false also if other code in this process has already enabled it. Then it must not be
  /// disabled here.
  static bool open(workbench const& from, workbench const& to) {
    auto& cuda = from.cuda();
    int can = 0;
    from.expect(cuda.cuDeviceCanAccessPeer(&can, from.device(), to.device()),
                "cuDeviceCanAccessPeer");
    if (can == 0) return false;
    current_context const current(from);
    return cuda.cuCtxEnablePeerAccess(to.context(), 0) == CUDA_SUCCESS;
  }
  static void close(workbench const& from, workbench const& to) noexcept {
    try {
      current_context const current(from);
      from.cuda().cuCtxDisablePeerAccess(to.context());
    } catch (cuda_failure const&) {
    }
  }

  workbench const& from_;
  workbench const& to_;
  bool there_, back_;
};

std::uint64_t pattern_word(std::uint64_t place) {
  return place * 0x9E3779B97F4A7C15u;
}

/// Allocates two buffers in one: the first is copied out, the second receives copies.
buffer buffer_with_pattern(workbench const& bench) {
  current_context const current(bench);
  std::vector<std::uint64_t> pattern(bytes / 8);
  for (std::uint64_t i = 0; i < pattern.size(); ++i) pattern[i] = pattern_word(i);
  auto made = bench.allocate(2 * bytes);
  bench.expect(bench.cuda().cuMemcpyHtoD_v2(made.device(), pattern.data(), bytes), "cuMemcpyHtoD");
  return made;
}

void expect_pattern(workbench const& bench, CUdeviceptr at) {
  current_context const current(bench);
  std::vector<std::uint64_t> words(1024);
  for (std::uint64_t from = 0; from < bytes; from += bytes / 16) {
    bench.copy_to_host(words.data(), at + from, words.size() * 8);
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      if (words[i] != pattern_word(from / 8 + i))
        throw no_figure(peak_outcome::failed, "its result is wrong: the copy differs");
    }
  }
}

/// Two GPUs with buffers. The peer's context is current while the object exists.
class pair_of_gpus {
 public:
  pair_of_gpus(lab& in, int peer)
      : in_(in),
        here_(buffer_with_pattern(in.bench)),
        peer_(in.bench.cuda(), peer),
        there_(buffer_with_pattern(peer_)),
        access_(in.bench, peer_) {}

  bool is_direct() const noexcept { return access_.is_there(); }

  /// Streams of the peer's context are used for both directions, because the copies name their
  /// contexts themselves.
  peak_figure best(bool both) const {
    further_stream const back(peer_);
    peak_figure figure;
    std::vector<double> rates;
    once(both, back.get());
    for (unsigned i = 0; i < 4; ++i) {
      rates.push_back(static_cast<double>(bytes) * (both ? 2 : 1) / once(both, back.get()));
      if (rates.back() <= figure.value) continue;
      figure.value = rates.back();
      figure.chip = in_.read_chip();
    }
    figure.samples = 4;
    figure.spread = spread_of(rates);
    check(both);
    return figure;
  }

 private:
  double once(bool both, CUstream other) const {
    auto& cuda = peer_.cuda();
    event begin(peer_), end(peer_), end_back(peer_);
    begin.record(peer_.stream());
    begin.hold(other);
    peer_.expect(cuda.cuMemcpyPeerAsync(there_.device() + bytes, peer_.context(), here_.device(),
                                        in_.bench.context(), bytes, peer_.stream()),
                 "cuMemcpyPeerAsync");
    if (both) {
      peer_.expect(cuda.cuMemcpyPeerAsync(here_.device() + bytes, in_.bench.context(),
                                          there_.device(), peer_.context(), bytes, other),
                   "cuMemcpyPeerAsync");
    }
    end.record(peer_.stream());
    end_back.record(other);
    peer_.wait();
    peer_.expect(cuda.cuStreamSynchronize(other), "cuStreamSynchronize");
    return std::max(end.seconds_since(begin), end_back.seconds_since(begin));
  }

  void check(bool both) const {
    expect_pattern(peer_, there_.device() + bytes);
    if (both) expect_pattern(in_.bench, here_.device() + bytes);
  }

  lab& in_;
  buffer here_;
  workbench peer_;
  buffer there_;
  direct_access access_;
};

peak_result named(std::string test, std::string title) {
  peak_result result;
  auto const& info = info_of(test_id::p2p);
  result.test = std::move(test);
  result.title = std::move(title);
  result.group = info.group;
  result.unit = info.unit;
  return result;
}

peak_result measured(peak_result result, pair_of_gpus const& pair, bool both) {
  result.buffer_bytes = bytes;
  result.operands = "random";
  result.method =
      pair.is_direct() ? "cuMemcpyPeerAsync, direct" : "cuMemcpyPeerAsync, through the host";
  result.burst = pair.best(both);
  result.outcome = peak_outcome::measured;
  return result;
}

}  // namespace

std::vector<peak_result> measure_peers(lab& in) {
  auto summary = named("p2p", "Peer copy, to the best of the others");
  int count = 0;
  in.bench.expect(in.bench.cuda().cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count < 2) {
    summary.remark = "there is one GPU only";
    return {summary};
  }
  std::vector<peak_result> results;
  for (int peer = 0; peer < count; ++peer) {
    CUdevice device = 0;
    in.bench.expect(in.bench.cuda().cuDeviceGet(&device, peer), "cuDeviceGet");
    if (device == in.bench.device()) continue;
    auto const number = std::to_string(peer);
    auto to = named("p2p_to_" + number, "Peer copy to GPU " + number);
    auto both = named("p2p_both_" + number, "Peer copy with GPU " + number + ", both ways");
    try {
      pair_of_gpus const pair(in, peer);
      to = measured(to, pair, false);
      both = measured(both, pair, true);
    } catch (std::exception const& why) {
      auto& broken = to.burst.is_there() ? both : to;
      broken.outcome = peak_outcome::failed;
      broken.remark = why.what();
    }
    if (to.burst.value > summary.burst.value) {
      auto const titled = summary;
      summary = to;
      summary.test = titled.test;
      summary.title = titled.title;
    }
    results.push_back(std::move(to));
    results.push_back(std::move(both));
  }
  if (!summary.burst.is_there()) {
    summary.outcome = peak_outcome::failed;
    summary.remark = "no copy to another GPU worked, see below";
  }
  results.insert(results.begin(), std::move(summary));
  return results;
}

}  // namespace gpuprof::guest::peaks
