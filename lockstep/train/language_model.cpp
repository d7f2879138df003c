#include "lockstep/train/language_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <optional>

#include "lockstep/base/log.h"
#include "lockstep/data/evaluation_stream.h"
#include "lockstep/models/folder_export.h"
#include "lockstep/models/generation.h"
#include "lockstep/models/stop_tokens.h"
#include "lockstep/models/weights_hash.h"

namespace lockstep::train {
namespace {

constexpr int64_t kWholeModelBytes = 8LL << 30;

}  // namespace

HeldOutLoss held_out_loss(const std::shared_ptr<const data::Dataset>& dataset, const LossFunction& loss,
                          comm::Mesh& mesh) {
  const at::NoGradGuard no_grad;
  data::EvaluationStream stream(dataset, mesh.rank(), mesh.world_size());
  at::Tensor sum;
  int64_t tokens = 0;
  while (auto made = stream.next()) {
    tokens = made->step_tokens;
    const at::Tensor value = loss(Batch(std::move(*made))).to(at::kDouble);
    sum = sum.defined() ? sum + value : value;
  }
  mesh.world().all_reduce(sum).wait();
  return {sum.item<double>() / static_cast<double>(tokens), tokens};
}

std::string weights_sha256(fsdp::ShardedModule& model) {
  auto names = model.parameter_names();
  std::sort(names.begin(), names.end());
  models::WeightsHash hash;
  for (const auto& name : names) {
    const at::Tensor values = model.full_parameter(name).to(at::kFloat).contiguous();
    hash.start(name);
    hash.append({values.const_data_ptr<float>(), static_cast<size_t>(values.numel())});
  }
  return hash.finish();
}

LanguageModel::LanguageModel(models::CausalLM module, std::shared_ptr<fsdp::ShardedModule> state,
                             const Recipe& recipe, const text::Tokenizer* tokenizer)
    : module_(std::move(module)), state_(std::move(state)), recipe_(recipe), tokenizer_(tokenizer) {
  if (tokenizer_ == nullptr) return;
  auto stop = models::find_stop_tokens(module_->spec(), recipe_.model.source, *tokenizer_);
  stop_ids_ = std::move(stop.ids);
  if (stop.disagreement && state_->mesh().rank() == 0) log::warning("{}", *stop.disagreement);
}

std::vector<Answer> LanguageModel::answer_prompts() {
  std::vector<Answer> answers;
  if (tokenizer_ == nullptr) return answers;
  comm::Communicator& world = state_->mesh().world();
  const auto agree = [&](int64_t token) {
    const at::Tensor shared =
        at::full({1}, token, at::TensorOptions().dtype(at::kLong).device(state_->device()));
    world.broadcast(shared, 0).wait();
    return shared.item<int64_t>();
  };
  // Gathering every unit again for each token would take most of the time; a model too large to
  // be whole on each rank is gathered so all the same.
  const bool whole = state_->numel() * state_->compute_element_size() <= kWholeModelBytes;
  state_->keep_gathered(whole);
  for (const auto& prompt : recipe_.evaluation.prompts) {
    const bool chat = tokenizer_->has_chat_template();
    const std::string text =
        chat ? tokenizer_->render_prompt(Json::array({{{"role", "user"}, {"content", prompt}}})) : prompt;
    const auto ids = tokenizer_->encode(text, /*add_special_tokens=*/!chat);
    const auto answer = models::generate(module_, ids, recipe_.evaluation.max_new_tokens, stop_ids_, agree);
    answers.push_back({prompt, tokenizer_->decode(answer, /*skip_special_tokens=*/true)});
  }
  state_->keep_gathered(false);
  return answers;
}

void LanguageModel::write_folder(const std::string& folder) {
  const auto& spec = module_->spec();
  std::optional<models::FolderExport> out;
  if (state_->mesh().rank() == 0) {
    out.emplace(spec, recipe_.model.source, folder,
                models::ExportOptions{.stop_ids = stop_ids_, .replace = true});
  }
  for (const auto& tensor : models::export_plan(spec, recipe_.model.source)) {
    const at::Tensor values = state_->full_parameter(tensor.name);
    if (out) out->write(tensor.name, values);
  }
  if (out) out->finish();
}

}  // namespace lockstep::train
