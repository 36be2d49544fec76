// SPDX-License-Identifier: Apache-2.0
// Events and streams of the driver that give themselves back.
#pragma once

#include "guest/peaks/experiments/workbench.hpp"

namespace gpuprof::guest::peaks {

/// An event that knows its driver.
class event {
 public:
  explicit event(workbench const& bench) : bench_(bench) {
    bench_.expect(bench_.cuda().cuEventCreate(&event_, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~event() { bench_.cuda().cuEventDestroy_v2(event_); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;

  void record(CUstream stream) {
    bench_.expect(bench_.cuda().cuEventRecord(event_, stream), "cuEventRecord");
  }
  void hold(CUstream stream) {
    bench_.expect(bench_.cuda().cuStreamWaitEvent(stream, event_, 0), "cuStreamWaitEvent");
  }
  double seconds_since(event const& earlier) const {
    float ms = 0;
    bench_.expect(bench_.cuda().cuEventElapsedTime(&ms, earlier.event_, event_),
                  "cuEventElapsedTime");
    return ms * 1e-3;
  }

 private:
  workbench const& bench_;
  CUevent event_ = nullptr;
};

class further_stream {
 public:
  explicit further_stream(workbench const& bench) : bench_(bench) {
    bench_.expect(bench_.cuda().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }
  ~further_stream() {
    bench_.cuda().cuStreamSynchronize(stream_);
    bench_.cuda().cuStreamDestroy_v2(stream_);
  }
  further_stream(further_stream const&) = delete;
  further_stream& operator=(further_stream const&) = delete;
  CUstream get() const noexcept { return stream_; }

 private:
  workbench const& bench_;
  CUstream stream_ = nullptr;
};

}  // namespace gpuprof::guest::peaks
