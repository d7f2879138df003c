#include "lockstep/models/folder_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/models/safetensors_reader.h"
#include "lockstep/models/stop_tokens.h"
#include "lockstep/models/weight_shapes.h"
#include "tests/models/model_folders.h"
#include "tests/models/model_input.h"

namespace lockstep::models {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

void export_model(const std::string& source, const std::string& destination,
                  const ExportOptions& options = {}) {
  CausalLM model = load_whole(source);  // float32, whatever is stored
  const auto values = model->named_parameters();
  FolderExport out(model->spec(), source, destination, options);
  for (const TensorPlan& tensor : out.tensors()) out.write(tensor.name, values[tensor.name]);
  out.finish();
}

std::vector<std::byte> bytes_of(const SafetensorsReader& reader, const StoredTensor& tensor) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.num_bytes));
  reader.read(tensor, 0, bytes);
  return bytes;
}

class FolderExportOf : public testing::TestWithParam<std::string> {};

TEST_P(FolderExportOf, UntrainedWeightsHasEqualBits) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  export_model(test_folder(GetParam()), copy);
  const SafetensorsReader source(test_folder(GetParam()));
  const SafetensorsReader exported(copy);
  EXPECT_EQ(exported.tensors().size(), source.tensors().size());
  for (const StoredTensor& tensor : source.tensors()) {
    const StoredTensor* stored = exported.find(tensor.name);
    ASSERT_NE(stored, nullptr) << tensor.name;
    EXPECT_EQ(stored->dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(stored->shape, tensor.shape) << tensor.name;
    EXPECT_EQ(bytes_of(exported, *stored), bytes_of(source, tensor)) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, FolderExportOf,
                         testing::Values("norms_one_bf16", "plain_f32", "mixed_dtype"),
                         [](const auto& info) { return info.param; });

TEST(FolderExport, ConfigSaysTheDtypeThatIsStored) {
  const TemporaryFolder folder;
  const auto dtype_of = [&](const std::string& name, const std::string& dtype) {
    const std::string copy = folder.path() + "/" + name + dtype;
    export_model(test_folder(name), copy, {.dtype = dtype});
    return load_json(copy + "/config.json")["torch_dtype"].get<std::string>();
  };
  EXPECT_EQ(dtype_of("norms_one_bf16", ""), "bfloat16");
  EXPECT_EQ(dtype_of("plain_f32", ""), "float32");
  EXPECT_EQ(dtype_of("plain_f32", "BF16"), "bfloat16");
  EXPECT_EQ(dtype_of("mixed_dtype", ""), "float32") << "the one of three that loses nothing";
}

TEST(FolderExport, ShardsAndTokenizerFilesLoadBack) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  export_model(test_folder("plain_f32"), copy, {.max_file_bytes = 4096});
  EXPECT_TRUE(std::filesystem::exists(copy + "/model.safetensors.index.json"));
  EXPECT_TRUE(std::filesystem::exists(copy + "/tokenizer.json"));
  const auto input = single_document({1, 2, 3, 4, 5});
  EXPECT_EQ(load_whole(copy)->loss(input).item<double>(),
            load_whole(test_folder("plain_f32"))->loss(input).item<double>());
}

TEST(FolderExport, LeavesNothingWhenItIsGivenUp) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  const ModelSpec spec = ModelSpec::load(test_folder("plain_f32"));
  { const FolderExport abandoned(spec, test_folder("plain_f32"), copy); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderExport, NeverWritesOverWhatIsThere) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  export_model(test_folder("plain_f32"), copy);
  EXPECT_THAT([&] { export_model(test_folder("plain_f32"), copy); },
              ThrowsMessage<ConfigError>(HasSubstr("exists and is not empty")));
}

TEST(FolderExport, ReplacesTheFormerOnlyOnceItIsWhole) {
  const TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  export_model(test_folder("norms_one_bf16"), copy);
  const ModelSpec spec = ModelSpec::load(test_folder("plain_f32"));
  { const FolderExport abandoned(spec, test_folder("plain_f32"), copy, {.replace = true}); }
  EXPECT_EQ(SafetensorsReader(copy).tensors().front().dtype, "BF16");
  export_model(test_folder("plain_f32"), copy, {.replace = true});
  EXPECT_EQ(SafetensorsReader(copy).tensors().front().dtype, "F32");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WeightShapes, ListEachTensorOnceInOrder) {
  const auto shapes = weight_shapes(ModelSpec::load(test_folder("qwen2_qkv_bias")));
  const SafetensorsReader files(test_folder("qwen2_qkv_bias"));
  EXPECT_EQ(shapes.size(), files.tensors().size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(files.find(shapes[i].name)->shape, shapes[i].shape);
    if (i > 0) {
      EXPECT_LT(shapes[i - 1].name, shapes[i].name);
    }
  }
}

// A base model whose files call <e> (0) the end, and whose chat template ends turns with <p> (31).
class ChatTunedBase : public testing::Test {
 protected:
  ChatTunedBase() {
    for (const char* name : {"config.json", "model.safetensors", "tokenizer.json"}) {
      std::filesystem::copy(test_folder("plain_f32/") + name, source_ + "/" + name);
    }
    Json config = load_json(test_folder("plain_f32/tokenizer_config.json"));
    config["eos_token"] = "<p>";
    config["chat_template"] = "{% for m in messages %}{{ m['content'] }}<p>{% endfor %}";
    std::ofstream(source_ + "/tokenizer_config.json") << config.dump();
  }
  StopTokens stop_tokens() const {
    return find_stop_tokens(ModelSpec::load(source_), source_, *text::Tokenizer::from_pretrained(source_));
  }

  TemporaryFolder folder_, output_;
  const std::string& source_ = folder_.path();
};

TEST_F(ChatTunedBase, StopsAtTheEndOfATurnAndSaysWhy) {
  const StopTokens stop = stop_tokens();
  EXPECT_THAT(stop.ids, testing::ElementsAre(31, 0));
  EXPECT_THAT(stop.disagreement.value_or(""), HasSubstr("ends a turn with token 31"));
}

TEST_F(ChatTunedBase, IsExportedWithTheEndOfATurnAsEos) {
  const std::string copy = output_.path() + "/copy";
  export_model(source_, copy, {.stop_ids = stop_tokens().ids});
  EXPECT_EQ(load_json(copy + "/generation_config.json")["eos_token_id"], Json({31, 0}));
  EXPECT_EQ(
      find_stop_tokens(ModelSpec::load(copy), copy, *text::Tokenizer::from_pretrained(copy)).disagreement,
      std::nullopt);
}

}  // namespace
}  // namespace lockstep::models
