#include "lockstep/nn/recorded.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "lockstep/base/first_line.h"
#include "lockstep/base/log.h"
#include "lockstep/nn/gradient_home.h"

namespace lockstep::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int kCallsBefore = 3;  // products are timed in their second call
constexpr const char* kMoved = "weights lie elsewhere in memory than when their part was recorded";
constexpr const char* kNoHome = "gradients are wanted elsewhere in memory than when their part was recorded";

std::vector<const void*> places_of(const Tensors& tensors) {
  std::vector<const void*> places;
  for (const at::Tensor& x : tensors) places.push_back(x.const_data_ptr());
  return places;
}

std::vector<int64_t> key_of(const Tensors& inputs) {
  std::vector<int64_t> key;
  for (const at::Tensor& x : inputs) {
    key.push_back(static_cast<int64_t>(x.scalar_type()) * 2 + x.requires_grad());
    key.insert(key.end(), x.sizes().begin(), x.sizes().end());
    key.insert(key.end(), x.strides().begin(), x.strides().end());
  }
  return key;
}

Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Memory that a recording writes and somebody else reads at once; not held, so that later recordings use it.
struct Left {
  void* place = nullptr;
  std::vector<int64_t> sizes, strides;
  at::TensorOptions options;

  static std::optional<Left> of(const at::Tensor& x) {
    if (!x.defined()) return std::nullopt;
    return Left{x.mutable_data_ptr(), x.sizes().vec(), x.strides().vec(), x.options()};
  }
  at::Tensor tensor() const {
    return at::for_blob(place, sizes)
        .strides(strides)
        .options(options)
        .target_device(options.device())
        .make_tensor();
  }
};

}  // namespace

struct Recording {
  RecordedPart::Body body;
  Tensors inputs;   // the recorded forward's, leaves
  Tensors outputs;  // with their way back to the inputs
  std::unique_ptr<kernels::Launches> forward, backward;
  std::vector<const void*> places_forward, places_backward;  // of the parameters
  Tensors output_gradients;                                  // undefined where the output has none
  Tensors input_gradients;
  std::vector<std::optional<Left>> parameter_gradients;
  std::vector<const void*> homes;  // that the recorded backward writes to, by parameter; null: none
};

namespace {

// One forward through a recording, until its backward.
struct Pass : torch::CustomClassHolder {
  Pass(std::shared_ptr<Recording> recording, Recorder& recorder, int& awaiting)
      : recording(std::move(recording)), recorder(recorder), awaiting(&awaiting) {
    ++awaiting;
  }
  ~Pass() override { end(); }
  void end() {
    if (awaiting != nullptr) --*awaiting;
    awaiting = nullptr;
  }
  std::shared_ptr<Recording> recording;
  Recorder& recorder;
  int* awaiting;
};

}  // namespace

struct RecordedFunction : torch::autograd::Function<RecordedFunction> {
  static variable_list forward(AutogradContext* context, const c10::intrusive_ptr<Pass>& pass,
                               at::TensorList inputs, at::TensorList parameters) {
    context->saved_data["pass"] = at::IValue::make_capsule(pass);
    context->save_for_backward(parameters.vec());
    context->set_materialize_grads(false);
    Recording& recording = *pass->recording;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].const_data_ptr() != recording.inputs[i].const_data_ptr())
        recording.inputs[i].variable_data().copy_(inputs[i]);
    }
    recording.forward->replay();
    variable_list outputs;
    for (const at::Tensor& output : recording.outputs) outputs.push_back(output.detach());
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto capsule = context->saved_data["pass"].toCapsule();
    auto& pass = static_cast<Pass&>(*capsule);
    Recording& recording = *pass.recording;
    const Tensors parameters = context->get_saved_variables();
    variable_list result(1);  // of the pass
    const bool replays = recording.backward
                             ? can_replay(recording, pass.recorder, parameters)
                             : record_backward(recording, pass.recorder, gradients, parameters);
    if (!replays) {
      result = joined(std::move(result), through_again(recording, gradients, parameters));
      pass.end();
      return result;
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      const at::Tensor& mine = recording.output_gradients[i];
      if (!mine.defined()) continue;
      if (!gradients[i].defined()) {
        mine.zero_();
      } else if (gradients[i].const_data_ptr() != mine.const_data_ptr()) {
        mine.copy_(gradients[i]);
      }
    }
    recording.backward->replay();
    pass.end();
    for (const at::Tensor& x : recording.input_gradients) result.push_back(x.defined() ? x.detach() : x);
    for (const auto& left : recording.parameter_gradients)
      result.push_back(left ? left->tensor() : at::Tensor());
    return result;
  }

 private:
  // By autograd as it is; undefined where `leaves` require none.
  static Tensors back(const Tensors& outputs, const Tensors& output_gradients, const Tensors& leaves) {
    Tensors roots, root_gradients, wanted;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !output_gradients[i].defined()) continue;
      roots.push_back(outputs[i]);
      root_gradients.push_back(output_gradients[i]);
    }
    for (const at::Tensor& leaf : leaves)
      if (leaf.requires_grad()) wanted.push_back(leaf);
    const auto got = torch::autograd::grad(roots, wanted, root_gradients, /*retain_graph=*/true,
                                           /*create_graph=*/false, /*allow_unused=*/true);
    Tensors gradients;
    size_t next = 0;
    for (const at::Tensor& leaf : leaves)
      gradients.push_back(leaf.requires_grad() ? got[next++] : at::Tensor());
    return gradients;
  }

  static bool can_replay(const Recording& recording, Recorder& recorder, const Tensors& parameters) {
    if (places_of(parameters) != recording.places_backward) {
      recorder.pass_over(kMoved);
      return false;
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (recording.homes[i] == nullptr || lend_again(parameters[i], recording.homes[i])) continue;
      recorder.pass_over(kNoHome);
      return false;
    }
    return true;
  }

  // The gradients that arrive are those of the recorded backward's later replays. Whether it was recorded.
  static bool record_backward(Recording& recording, Recorder& recorder, const Tensors& gradients,
                              const Tensors& parameters) {
    if (recorder.off()) return false;
    Tensors own;
    for (size_t i = 0; i < recording.outputs.size(); ++i) {
      const at::Tensor& output = recording.outputs[i];
      if (!output.requires_grad()) {
        own.emplace_back();
      } else if (!gradients[i].defined()) {
        own.push_back(at::zeros_like(output));
      } else {
        own.push_back(recorder.stays(gradients[i]) ? gradients[i].detach() : gradients[i].clone());
      }
    }
    const size_t num_inputs = recording.inputs.size();
    const LastingHomes homes;
    Tensors got;
    try {
      recording.backward = recorder.backward_->record(
          [&] { got = back(recording.outputs, own, joined(recording.inputs, parameters)); });
    } catch (const std::exception& error) {
      recorder.turn_off(first_line(error.what()));
      return false;
    }
    for (const at::Tensor& x : parameters) recording.homes.push_back(homes.given(x));
    recording.output_gradients = std::move(own);
    recording.places_backward = places_of(parameters);
    recording.input_gradients.assign(got.begin(), got.begin() + static_cast<long>(num_inputs));
    for (const at::Tensor& x : recording.input_gradients) recorder.keep(x);
    for (size_t i = num_inputs; i < got.size(); ++i)
      recording.parameter_gradients.push_back(Left::of(got[i]));
    return true;
  }

  static Tensors through_again(Recording& recording, const Tensors& gradients, const Tensors& parameters) {
    Tensors inputs;
    for (const at::Tensor& x : recording.inputs)
      inputs.push_back(x.detach().set_requires_grad(x.requires_grad()));
    const at::AutoGradMode recording_gradients(true);
    return back(recording.body(inputs), gradients, joined(inputs, parameters));
  }
};

std::shared_ptr<Recorder> Recorder::make() {
  auto forward = kernels::make_launch_recorder(), backward = kernels::make_launch_recorder();
  if (!forward) return nullptr;
  return std::make_shared<Recorder>(std::move(forward), std::move(backward));
}

Recorder::Recorder(std::unique_ptr<kernels::LaunchRecorder> forward,
                   std::unique_ptr<kernels::LaunchRecorder> backward)
    : forward_(std::move(forward)), backward_(std::move(backward)) {}

bool Recorder::free() const { return !off_ && awaiting_ == 0 && at::GradMode::is_enabled(); }

at::Tensor Recorder::lasting(const std::string& name, const at::Tensor& x) {
  at::Tensor& mine = lasting_[name];
  if (!mine.defined() || mine.sizes() != x.sizes() || mine.dtype() != x.dtype()) {
    if (mine.defined()) stays_.erase(mine.const_data_ptr());
    mine = x.clone();
    keep(mine);
  } else {
    mine.copy_(x);
  }
  return mine;
}

void Recorder::keep(const at::Tensor& x) {
  if (x.defined()) stays_.insert(x.const_data_ptr());
}

bool Recorder::stays(const at::Tensor& x) const { return stays_.count(x.const_data_ptr()) > 0; }

void Recorder::turn_off(const std::string& why) {
  off_ = true;
  pass_over(why);
}

void Recorder::pass_over(const std::string& why) {
  if (!said_.insert(why).second) return;
  log::info("kernels are launched one by one, without CUDA graphs{}: {}", off_ ? " from now on" : "", why);
}

Tensors RecordedPart::run(Recorder& recorder, const Body& body, const Tensors& inputs,
                          const Tensors& parameters) {
  if (auto key = key_of(inputs); key != key_) {
    key_ = std::move(key);
    calls_ = 0;
    recording_.reset();
  }
  if (recorder.off() || ++calls_ <= kCallsBefore) return body(inputs);
  if (!recording_) {
    auto made = std::make_shared<Recording>();
    made->body = body;
    for (const at::Tensor& x : inputs) {
      const at::Tensor own = recorder.stays(x) ? x.detach() : x.detach().clone();
      made->inputs.push_back(own.set_requires_grad(x.requires_grad()));
    }
    try {
      made->forward = recorder.forward_->record([&] { made->outputs = body(made->inputs); });
    } catch (const std::exception& error) {
      recorder.turn_off(first_line(error.what()));
      return body(inputs);
    }
    for (const at::Tensor& x : made->outputs) recorder.keep(x);
    made->places_forward = places_of(parameters);
    recording_ = std::move(made);
  }
  if (places_of(parameters) != recording_->places_forward) {
    recorder.pass_over(kMoved);
    return body(inputs);
  }
  return RecordedFunction::apply(c10::make_intrusive<Pass>(recording_, recorder, recorder.awaiting_),
                                 at::TensorList(inputs), at::TensorList(parameters));
}

}  // namespace lockstep::nn
