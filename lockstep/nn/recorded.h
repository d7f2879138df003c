// Parts of a forward that run by replaying recorded kernel launches (kernels/launch_recorder.h), in forward
// and in backward: the same kernels on the same values and so the same bits, at a fraction of the host's
// time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lockstep/kernels/launch_recorder.h"
#include "lockstep/nn/recompute.h"  // Tensors

namespace lockstep::nn {

// What the recorded parts of one model share. One thread calls forward and backward.
class Recorder {
 public:
  // On the current CUDA device. Null where the CUDA library is not loaded.
  static std::shared_ptr<Recorder> make();
  Recorder(std::unique_ptr<kernels::LaunchRecorder> forward,
           std::unique_ptr<kernels::LaunchRecorder> backward);

  // Whether a forward that begins now may go through recorded parts: gradients are recorded, and no backward
  // of an earlier forward is still to come, which would read the memory that this one writes.
  bool free() const;
  // The values of `x` in memory that stays for this name and x's sizes. For an input that several parts
  // share: else each of them would copy it.
  at::Tensor lasting(const std::string& name, const at::Tensor& x);
  // No more recorded parts. Logs `why`, once.
  void turn_off(const std::string& why);
  // Logs once why a forward goes without.
  void pass_over(const std::string& why);
  bool off() const { return off_; }

 private:
  friend class RecordedPart;
  friend struct RecordedFunction;
  void keep(const at::Tensor& x);  // x's memory is held by a recording
  bool stays(const at::Tensor& x) const;

  // Apart, since they are replayed in other orders. What a forward saves is never freed in its pool, so a
  // later recording cannot write there; a backward's memory is read by nobody but the next backward.
  std::unique_ptr<kernels::LaunchRecorder> forward_, backward_;
  std::map<std::string, at::Tensor> lasting_;
  std::set<const void*> stays_;
  std::set<std::string> said_;
  int awaiting_ = 0;  // forwards whose backward is to come
  bool off_ = false;
};

struct Recording;

// One part: it is called a few times as it is, since libraries choose their kernels in the first calls, and
// recorded in the next call with the same shapes.
//
// Contract: the part does the same in every call with the same shapes, without waiting for the device and
// without anything drawn at random. A gradient of a parameter lies in its home where that stays
// (nn/gradient_home.h); else it is read or copied before the next part's backward writes over it, as fsdp
// does as soon as it arrives. A call whose parameters lie elsewhere than when they were recorded, or whose
// homes are not free, runs as it is.
class RecordedPart {
 public:
  using Body = std::function<Tensors(const Tensors&)>;
  // body(inputs). `parameters`: all else that the body reads.
  Tensors run(Recorder& recorder, const Body& body, const Tensors& inputs, const Tensors& parameters);

 private:
  std::vector<int64_t> key_;  // of the calls counted
  int calls_ = 0;
  std::shared_ptr<Recording> recording_;
};

}  // namespace lockstep::nn
