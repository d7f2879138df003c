// Writes a Hugging Face folder back: weights, config.json, generation_config.json and the tokenizer's files.
//
//   FolderExport out(spec, source, destination, {.stop_ids = stop.ids});
//   for (const TensorPlan& tensor : out.tensors()) out.write(tensor.name, model.full_parameter(tensor.name));
//   out.finish();
//
// With a sharded model every rank walks the same names, since gathering is collective; one of them writes.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "lockstep/models/config.h"
#include "lockstep/models/safetensors_writer.h"

namespace lockstep::models {

struct ExportOptions {
  std::string dtype;              // F32, F16 or BF16 for all tensors; empty: as in the source, each
  std::vector<int64_t> stop_ids;  // eos_token_id of generation_config.json; empty: the source's
  int64_t max_file_bytes = SafetensorsWriter::kMaxFileBytes;
  bool replace = false;  // a folder that stands there goes once the new one is whole
};

// What will be written: weight_shapes(spec) with the dtype that the source stores each in (random weights:
// config.json's, or F32).
std::vector<TensorPlan> export_plan(const ModelSpec& spec, const std::string& source,
                                    const std::string& dtype = "");

class FolderExport {
 public:
  // Everything goes into `destination`.partial, which becomes `destination` in finish(). Throws
  // ConfigError when `destination` exists, is not empty and is not to be replaced, IoError when the disk
  // fails.
  FolderExport(const ModelSpec& spec, const std::string& source, const std::string& destination,
               const ExportOptions& options = {});
  FolderExport(const FolderExport&) = delete;
  FolderExport& operator=(const FolderExport&) = delete;
  // Without finish(): removes what was written.
  ~FolderExport();

  const std::vector<TensorPlan>& tensors() const { return tensors_; }

  // The next tensor of tensors(), whole, in any float dtype, on any device; rounded to the planned dtype.
  void write(const std::string& name, const at::Tensor& values);

  // After the last tensor. On return the folder is there and on the disk.
  void finish();

 private:
  std::string destination_;
  std::string partial_;
  bool replace_ = false;
  std::vector<TensorPlan> tensors_;
  std::optional<SafetensorsWriter> weights_;
  bool finished_ = false;
};

}  // namespace lockstep::models
