// SPDX-License-Identifier: Apache-2.0
// What stands around the program's launches, called from CUPTI's callbacks.
#pragma once

#include "guest/cupti/api.hpp"
#include "guest/cupti/call_parameters.hpp"
#include "model/launch_remark.hpp"

#include <cstdint>

namespace gpuprof::guest {

class context_readings;  // the gate's own, as the next one
class launch_signature;

/// A call of the program that puts work on a GPU: what the gate remembers of it from its begin to
/// its end. Kept for it by the caller, one for each thread.
struct call_in_flight {
  std::uint32_t inside_since = 0;  // the generation of callbacks in which it passed; 0: it did not
  std::uint32_t arguments = 0;     // as in kernel_shape
  bool is_read = false, may_be_read = false;
  bool is_counted = false;   // as one of the capture, when it has succeeded
  bool is_readable = false;  // its parameters
  bool is_whole = false;     // the signature is that of all values of its arguments
  bool has_stream = false;   // `stream` is where its work goes
  launch_call_kind kind;
  launch_signature* signature = nullptr;  // null: of no interest
  context_readings* context = nullptr;    // likewise
  CUstream stream = nullptr;
};

/// Stands around launches: what reads counters there. All inside the callback of the launching
/// thread. Before a call nobody knows whether the driver accepts what the program passes: handles
/// are not given to CUDA or CUPTI then, and no pointer of the program is read unchecked.
class launch_gate {
 public:
  virtual ~launch_gate() = default;
  /// Before a launch of kernels. left() follows on the same thread when the call has returned.
  virtual void entered(call_in_flight& own, launch_call_kind kind,
                       CUpti_CallbackData const& call) noexcept = 0;
  /// `gets_record`: a kernel record of the launch is wanted, and its note has room.
  virtual launch_remark left(call_in_flight& own, CUpti_CallbackData const& call,
                             bool gets_record) noexcept = 0;
  /// Before another call that puts work on a stream; work_left() follows on the same thread.
  virtual void work_entered(call_in_flight& own, stream_place place,
                            CUpti_CallbackData const& call) noexcept = 0;
  virtual void work_left(call_in_flight& own, CUpti_CallbackData const& call) noexcept = 0;
  /// A stream begins to be captured into a graph, on whatever thread; it ends, or did not begin.
  virtual void stream_capture_begins(CUstream stream) noexcept = 0;
  virtual void stream_capture_ends(CUstream stream) noexcept = 0;
  /// Before a stream is destroyed.
  virtual void stream_ends(CUstream stream) noexcept = 0;
  virtual void context_made(CUcontext context) noexcept = 0;
  virtual void context_gone(CUcontext context) noexcept = 0;
  /// After the program has waited for all work of a context, or could not.
  virtual void context_waited_for(CUpti_CallbackData const& call) noexcept = 0;
  /// After it has waited for something: the GPU may be idle now.
  virtual void work_waited_for() noexcept = 0;
  /// A graph that can be launched is changed.
  virtual void graph_changes() noexcept = 0;
  /// Before one is destroyed: its handle may come to mean another.
  virtual void graph_ends(CUgraphExec graph) noexcept = 0;
  /// Before a module or library goes, and after it: its functions' handles may come to mean others.
  virtual void code_unloads() noexcept = 0;
  /// Before a call that destroys a context, and after it.
  virtual void context_ending() noexcept = 0;
  virtual void context_ended() noexcept = 0;
};

}  // namespace gpuprof::guest
