// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/driver_copy.hpp"

#include "guest/peaks/experiments/gpu_events.hpp"
#include "guest/peaks/experiments/span_statistics.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::peaks {

peak_figure driver_copy::best() const {
  peak_figure figure;
  std::vector<double> rates;
  seconds_of(1);
  for (unsigned i = 0; i < in_.samples(); ++i) {
    rates.push_back(bytes() / seconds_of(1));
    if (rates.back() <= figure.value) continue;
    figure.value = rates.back();
    figure.chip = in_.read_chip();
  }
  figure.samples = in_.samples();
  figure.spread = spread_of(rates);
  return figure;
}

peak_figure driver_copy::sustain(double seconds) const {
  auto const copies = std::max(6u, static_cast<unsigned>(seconds / seconds_of(1)));
  peak_figure figure;
  enqueue(copies - copies / 3);
  figure.samples = copies / 3;
  figure.value = bytes() * figure.samples / seconds_of(figure.samples);
  figure.chip = in_.read_chip();
  return figure;
}

void driver_copy::enqueue(unsigned copies) const {
  auto const half = in_.arena.bytes() / 2;
  auto const from = in_.arena.device();
  for (unsigned i = 0; i < copies; ++i) {
    in_.bench.expect(
        in_.bench.cuda().cuMemcpyDtoDAsync_v2(from + half, from, half, in_.bench.stream()),
        "cuMemcpyDtoDAsync");
  }
}

double driver_copy::seconds_of(unsigned copies) const {
  event begin(in_.bench), end(in_.bench);
  begin.record(in_.bench.stream());
  enqueue(copies);
  end.record(in_.bench.stream());
  in_.bench.wait();
  return end.seconds_since(begin);
}

}  // namespace gpuprof::peaks
