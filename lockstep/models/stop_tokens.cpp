#include "lockstep/models/stop_tokens.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/models/json_file.h"

namespace lockstep::models {
namespace {

// The last trained token of an assistant's turn, if it is a special one: a template that ends
// turns with plain text, or with nothing, has no token to stop at.
std::optional<int64_t> turn_end(const text::Tokenizer& tokenizer) {
  if (!tokenizer.has_chat_template()) return std::nullopt;
  text::RenderedChat chat;
  try {
    chat = tokenizer.render_chat(Json::parse(R"([{"role": "user", "content": "a"},
                                                 {"role": "assistant", "content": "a"}])"));
  } catch (const DataError&) {
    return std::nullopt;  // the template wants other roles; training on real chats says so
  }
  const auto last = std::find(chat.trained.rbegin(), chat.trained.rend(), 1);
  if (last == chat.trained.rend()) return std::nullopt;
  for (size_t i = static_cast<size_t>(chat.trained.rend() - last); i-- > 0 && chat.trained[i] == 1;) {
    const std::string seen = tokenizer.decode({chat.ids[i]}, /*skip_special_tokens=*/true);
    if (seen.empty()) return chat.ids[i];
    if (seen.find_first_not_of(" \n") != std::string::npos) break;  // content
  }
  return std::nullopt;
}

std::vector<int64_t> generation_config_eos(const std::string& folder) {
  const std::string path = folder + "/generation_config.json";
  if (!std::filesystem::exists(path)) return {};
  const Json config = load_json(path);
  const Json eos = config.value("eos_token_id", Json());
  if (eos.is_number_integer()) return {eos.get<int64_t>()};
  std::vector<int64_t> ids;
  for (const Json& id : eos.is_array() ? eos : Json::array()) {
    if (id.is_number_integer()) ids.push_back(id.get<int64_t>());
  }
  return ids;
}

}  // namespace

StopTokens find_stop_tokens(const ModelSpec& spec, const std::string& folder,
                            const text::Tokenizer& tokenizer) {
  StopTokens stop;
  const auto add = [&](int64_t id) {
    if (std::find(stop.ids.begin(), stop.ids.end(), id) == stop.ids.end()) stop.ids.push_back(id);
  };
  std::vector<int64_t> own = generation_config_eos(folder);
  if (own.empty()) own = spec.eos_token_ids;
  const auto end = turn_end(tokenizer);
  if (end) add(*end);
  if (tokenizer.eos_id()) add(*tokenizer.eos_id());
  for (const int64_t id : own) add(id);
  if (end && std::find(own.begin(), own.end(), *end) == own.end()) {
    stop.disagreement = fmt::format(
        "{}: the chat template ends a turn with token {}, but the model's eos is [{}]. Answers stop at any "
        "of them, "
        "and an export's generation_config.json lists them all",
        folder, *end, fmt::join(own, ", "));
  }
  return stop;
}

}  // namespace lockstep::models
