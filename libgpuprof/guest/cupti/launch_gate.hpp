// SPDX-License-Identifier: Apache-2.0
// Interface of the gate around the program's launches, called from CUPTI's callbacks.
#pragma once

#include "guest/cupti/api.hpp"
#include "guest/cupti/call_parameters.hpp"
#include "model/launch_remark.hpp"

#include <cstdint>

namespace gpuprof::guest {

class context_readings;  // used by the gate only, like the next class
class launch_signature;

/// State of a call that puts work on a GPU, which the gate keeps from its begin to its end. The
/// caller stores one for each thread.
struct call_in_flight {
  std::uint32_t inside_since = 0;  // the generation of callbacks in which it passed; 0: it did not
  std::uint32_t arguments = 0;     // as in kernel_shape
  bool is_read = false, may_be_read = false;
  bool is_counted = false;   // counts in the capture if it succeeds
  bool is_readable = false;  // its parameters can be read
  bool is_whole = false;     // the signature is that of all values of its arguments
  bool has_stream = false;   // `stream` is the stream of its work
  launch_call_kind kind;
  launch_signature* signature = nullptr;  // null: not of interest
  context_readings* context = nullptr;    // null: not of interest
  CUstream stream = nullptr;
};

/// Called around launches, to read counters there, all inside the callback of the launching thread.
/// Before a call it is not known whether the driver accepts what the program passes: so handles
/// must not be given to CUDA or CUPTI then, and pointers of the program must be checked before they
/// are read.
class launch_gate {
 public:
  virtual ~launch_gate() = default;
  /// Called before a launch of kernels. left() follows on the same thread when the call has
  /// returned.
  virtual void entered(call_in_flight& own, launch_call_kind kind,
                       CUpti_CallbackData const& call) noexcept = 0;
  /// `gets_record`: a kernel record of the launch is wanted, and its note has room.
  virtual launch_remark left(call_in_flight& own, CUpti_CallbackData const& call,
                             bool gets_record) noexcept = 0;
  /// Called before another call that puts work on a stream; work_left() follows on the same thread.
  virtual void work_entered(call_in_flight& own, stream_place place,
                            CUpti_CallbackData const& call) noexcept = 0;
  virtual void work_left(call_in_flight& own, CUpti_CallbackData const& call) noexcept = 0;
  /// The capture of a stream into a graph begins, on any thread; it ends, or failed to begin.
  virtual void stream_capture_begins(CUstream stream) noexcept = 0;
  virtual void stream_capture_ends(CUstream stream) noexcept = 0;
  /// Called before a stream is destroyed.
  virtual void stream_ends(CUstream stream) noexcept = 0;
  virtual void context_made(CUcontext context) noexcept = 0;
  virtual void context_gone(CUcontext context) noexcept = 0;
  /// Called after a wait of the program for all work of a context, which may have failed.
  virtual void context_waited_for(CUpti_CallbackData const& call) noexcept = 0;
  /// Called after the program has waited for some work: the GPU may be idle now.
  virtual void work_waited_for() noexcept = 0;
  /// An executable graph is changed.
  virtual void graph_changes() noexcept = 0;
  /// Called before an executable graph is destroyed: its handle may then mean another.
  virtual void graph_ends(CUgraphExec graph) noexcept = 0;
  /// Called before and after a module or library is unloaded: handles of its functions may then
  /// mean others.
  virtual void code_unloads() noexcept = 0;
  /// Called before and after a call that destroys a context.
  virtual void context_ending() noexcept = 0;
  virtual void context_ended() noexcept = 0;
};

}  // namespace gpuprof::guest
