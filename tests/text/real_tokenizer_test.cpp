// Real tokenizers and their chat templates against transformers (tests/data/text/make_real_reference.py).
// They are not in the repository: scripts/fetch_tokenizers and `make assets` bring them into the cache.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "lockstep/text/tokenizer.h"
#include "tests/text/text_data.h"

namespace lockstep::text {
namespace {

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("LOCKSTEP_CACHE")) return cache;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "") / ".cache/lockstep";
}

const Json& reference() {
  static const Json all = read_json(data_path("real_reference.json"));
  return all;
}

std::vector<TokenId> ids_of(const Json& json) { return json.get<std::vector<TokenId>>(); }

// nullopt as transformers' None.
Json json_of(std::optional<TokenId> id) { return id ? Json(*id) : Json(); }

// The trained tokens' text, " | " between runs.
std::string trained_text(const Tokenizer& tokenizer, const RenderedChat& chat) {
  std::string text;
  std::vector<TokenId> run;
  for (size_t i = 0; i <= chat.ids.size(); ++i) {
    if (i < chat.ids.size() && chat.trained[i]) {
      run.push_back(chat.ids[i]);
    } else if (!run.empty()) {
      text += (text.empty() ? "" : " | ") + tokenizer.decode(run);
      run.clear();
    }
  }
  return text;
}

class RealTokenizer : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = cache_folder() / made()["folder"].get<std::string>();
    if (!std::filesystem::exists(folder / "tokenizer.json"))
      GTEST_SKIP() << "no " << folder << ": run scripts/fetch_tokenizers, or make assets for smollm2";
    tokenizer_ = Tokenizer::from_pretrained(folder.string());
  }

  std::string name() const { return GetParam(); }
  const Json& made() const { return reference()["tokenizers"][name()]; }

  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(RealTokenizer, TextsGiveTheIdsOfTransformersAndBack) {
  const Json& texts = reference()["texts"];
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i]);
    const auto ids = tokenizer_->encode(texts[i]);
    EXPECT_EQ(ids, ids_of(made()["texts"][i]));
    EXPECT_EQ(tokenizer_->decode(ids, /*skip_special_tokens=*/true), made()["decoded"][i]);
  }
  EXPECT_EQ(tokenizer_->vocab_size(), made()["vocab_size"]);
  EXPECT_EQ(json_of(tokenizer_->bos_id()), made()["bos"]);
  EXPECT_EQ(json_of(tokenizer_->eos_id()), made()["eos"]);
  EXPECT_EQ(json_of(tokenizer_->pad_id()), made()["pad"]);

  // Case T15: strings that pre-tokenizers are known to split wrongly.
  const Json cases = read_json(data_path("real_tokenizers.json"));
  const Json strings =
      cases.value(name() == "qwen3" ? "qwen3_same_strings" : "T15_" + name(), Json::object());
  for (const auto& [text, ids] : strings.items())
    EXPECT_EQ(tokenizer_->encode(text, /*add_special_tokens=*/false), ids_of(ids)) << text;
}

TEST_P(RealTokenizer, ChatsGiveTheIdsOfTransformersAndTrainOnTheAssistant) {
  const Json trained = read_json(data_path("real_trained.json"))[name()];
  for (const auto& [title, chat] : reference()["chats"].items()) {
    SCOPED_TRACE(title);
    const RenderedChat rendered = tokenizer_->render_chat(chat["messages"], chat["tools"]);
    EXPECT_EQ(rendered.ids, ids_of(made()["chats"][title]));
    EXPECT_EQ(trained_text(*tokenizer_, rendered), trained[title]) << rendered.text;
    const Json first = Json::array({chat["messages"][0]});
    EXPECT_EQ(tokenizer_->render_prompt(first, chat["tools"]), made()["prompts"][title]);
  }

  // Case T01: one BOS, though the post-processor would add a second.
  const Json cases = read_json(data_path("real_tokenizers.json"));
  if (cases.contains("T01_" + name())) {
    const Json& example = cases["T01_" + name()];
    EXPECT_EQ(tokenizer_->render_chat(example["messages"]).ids, ids_of(example["ids"]));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RealTokenizer, ::testing::Values("qwen3", "llama3", "llama3_1", "smollm2"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace lockstep::text
