#include "lockstep/models/folder_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "lockstep/base/check.h"
#include "lockstep/base/element_bytes.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/models/dtype.h"
#include "lockstep/models/json_file.h"
#include "lockstep/models/safetensors_reader.h"
#include "lockstep/models/weight_shapes.h"

namespace lockstep::models {
namespace {

namespace fs = std::filesystem;

// What belongs to the text and not to the weights, copied as it is.
constexpr const char* kCopiedFiles[] = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",  "vocab.json",
    "merges.txt",     "tokenizer.model",       "chat_template.jinja",     "chat_template.json", "LICENSE"};

std::string random_weights_dtype(const Json& config) {
  for (const char* key : {"dtype", "torch_dtype"}) {
    const Json value = config.value(key, Json());
    if (value == "bfloat16") return "BF16";
    if (value == "float16") return "F16";
  }
  return "F32";
}

// transformers casts all tensors to this on loading: the stored dtype, or, of several, one that
// loses nothing.
const char* config_dtype(const std::vector<TensorPlan>& tensors) {
  std::set<std::string> dtypes;
  for (const TensorPlan& tensor : tensors) dtypes.insert(tensor.dtype);
  if (dtypes.contains("F64")) return "float64";
  if (dtypes.size() > 1 || dtypes.contains("F32")) return "float32";
  return dtypes.contains("BF16") ? "bfloat16" : "float16";
}

void write_json(const std::string& path, const Json& json) {
  std::ofstream file(path, std::ios::binary);
  file << json.dump(2) << "\n";
  file.close();
  if (!file) throw_io_error("write", path, errno);
}

Json config_of(const ModelSpec& spec, const std::vector<TensorPlan>& tensors) {
  Json config = spec.config;
  const char* key = config.contains("dtype") ? "dtype" : "torch_dtype";
  config[key] = config_dtype(tensors);
  return config;
}

Json generation_config_of(const ModelSpec& spec, const std::string& source,
                          const std::vector<int64_t>& stop_ids) {
  const std::string path = source + "/generation_config.json";
  Json config = Json::object();
  if (fs::exists(path)) {
    config = load_json(path);
  } else {
    for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
      const Json value = spec.config.value(key, Json());
      if (!value.is_null()) config[key] = value;
    }
  }
  if (stop_ids.size() == 1) config["eos_token_id"] = stop_ids.front();
  if (stop_ids.size() > 1) config["eos_token_id"] = stop_ids;
  return config;
}

void copy_text_files(const std::string& source, const std::string& destination) {
  for (const char* name : kCopiedFiles) {
    const fs::path from = fs::path(source) / name;
    std::error_code error;
    if (!fs::exists(from)) continue;
    fs::copy_file(from, fs::path(destination) / name, error);
    if (error) throw_io_error("copy to", destination + "/" + name, error.value());
  }
}

}  // namespace

std::vector<TensorPlan> export_plan(const ModelSpec& spec, const std::string& source,
                                    const std::string& dtype) {
  const bool has_weights =
      fs::exists(source + "/model.safetensors") || fs::exists(source + "/model.safetensors.index.json");
  const auto stored = has_weights ? std::optional<SafetensorsReader>(source) : std::nullopt;
  std::vector<TensorPlan> tensors;
  for (const WeightShape& weight : weight_shapes(spec)) {
    const StoredTensor* in_source = stored ? stored->find(weight.name) : nullptr;
    std::string own = in_source != nullptr ? in_source->dtype : random_weights_dtype(spec.config);
    tensors.push_back({weight.name, dtype.empty() ? std::move(own) : dtype, weight.shape});
  }
  return tensors;
}

FolderExport::FolderExport(const ModelSpec& spec, const std::string& source, const std::string& destination,
                           const ExportOptions& options)
    : destination_(fs::path(destination).lexically_normal().string()),
      replace_(options.replace),
      tensors_(export_plan(spec, source, options.dtype)) {
  if (!replace_ && fs::exists(destination_) && !fs::is_empty(destination_)) {
    throw ConfigError(
        fmt::format("export: {} exists and is not empty. Name another folder, or remove it", destination_));
  }
  if (destination_.ends_with('/')) destination_.pop_back();
  partial_ = destination_ + ".partial";
  std::error_code error;
  fs::remove_all(partial_);  // left by a process that was killed
  fs::create_directories(partial_, error);
  if (error) throw_io_error("create", partial_, error.value());
  write_json(partial_ + "/config.json", config_of(spec, tensors_));
  write_json(partial_ + "/generation_config.json", generation_config_of(spec, source, options.stop_ids));
  copy_text_files(source, partial_);
  weights_.emplace(partial_, tensors_, options.max_file_bytes);
}

FolderExport::~FolderExport() {
  std::error_code ignored;  // the folder is only litter by now
  if (!finished_) fs::remove_all(partial_, ignored);
}

void FolderExport::write(const std::string& name, const at::Tensor& values) {
  const auto plan = std::find_if(tensors_.begin(), tensors_.end(),
                                 [&](const TensorPlan& tensor) { return tensor.name == name; });
  LOCKSTEP_CHECK(plan != tensors_.end()) << name << " is no tensor of the model";
  LOCKSTEP_CHECK(values.numel() * element_bytes(plan->dtype) == plan->num_bytes())
      << name << ": " << values.sizes() << " values for " << shape_words(plan->shape);
  const auto stored = values.detach().to(at::kCPU, scalar_type(plan->dtype).value()).contiguous();
  weights_->write(name, {static_cast<const std::byte*>(stored.const_data_ptr()), stored.nbytes()});
}

void FolderExport::finish() {
  weights_->finish();
  const std::string former = destination_ + ".former";
  std::error_code error;
  if (replace_) fs::rename(destination_, former, error);  // there need not be one
  fs::remove(destination_, error);                        // an empty folder may stand there
  fs::rename(partial_, destination_, error);
  if (error) throw_io_error("create", destination_, error.value());
  finished_ = true;
  fs::remove_all(former, error);
  if (error) throw_io_error("remove", former, error.value());
}

}  // namespace lockstep::models
