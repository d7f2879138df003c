// A model's values as they lie in the safetensors files of a Hugging Face folder.
#pragma once

#include <string>

#include "lockstep/models/config.h"
#include "lockstep/models/safetensors_reader.h"
#include "lockstep/nn/module.h"

namespace lockstep::models {

class CheckpointWeights : public nn::WeightSource {
 public:
  // Opens the files and reads their headers. Throws ConfigError.
  explicit CheckpointWeights(const std::string& folder) : reader_(folder) {}

  // Compares the headers with the parameters of `model`: each must be stored once, in its shape and
  // as floating point, and nothing else may be there. Left aside: rotary frequencies, which old files
  // hold and config.json implies, and a tied head that is stored and equal to the embedding. Throws
  // ConfigError naming file, tensor, both shapes and the config key.
  void check_against(const torch::nn::Module& model, const ModelSpec& spec) const;

  // Reads the slice alone, in pieces of 4 MiB, each tensor by the dtype of its own header.
  void read(const std::string& name, int64_t offset, at::Tensor out) override;

  const SafetensorsReader& reader() const { return reader_; }

 private:
  SafetensorsReader reader_;
};

}  // namespace lockstep::models
