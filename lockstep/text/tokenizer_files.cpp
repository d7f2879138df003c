#include "lockstep/text/tokenizer_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::text {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_if_there(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw ConfigError(fmt::format("{}: cannot be read", path.string()));
  return content;
}

Json read_object_if_there(const fs::path& path) {
  const auto content = read_if_there(path);
  if (!content) return Json::object();
  Json json;
  try {
    json = Json::parse(*content);
  } catch (const Json::parse_error& error) {
    throw ConfigError(fmt::format("{}: {}", path.string(), error.what()));
  }
  if (!json.is_object())
    throw ConfigError(fmt::format("{}: must hold a JSON object, holds {}", path.string(), json.type_name()));
  return json;
}

// A token is written as its text, or as an object with the text in "content".
void read_special_tokens(const Json& json, std::map<std::string, std::string>& tokens) {
  for (const auto& [key, value] : json.items()) {
    if (!key.ends_with("_token")) continue;
    if (value.is_string())
      tokens[key] = value.get<std::string>();
    else if (value.is_object() && value.contains("content") && value["content"].is_string())
      tokens[key] = value["content"].get<std::string>();
  }
}

// One template, or a list of {name, template}.
std::map<std::string, std::string> templates_of_config(const Json& config, const std::string& path) {
  const auto entry = config.find("chat_template");
  if (entry == config.end() || entry->is_null()) return {};
  if (entry->is_string()) return {{"default", entry->get<std::string>()}};

  std::map<std::string, std::string> templates;
  const auto is_named_template = [](const Json& item) {
    return item.is_object() && item.contains("name") && item["name"].is_string() &&
           item.contains("template") && item["template"].is_string();
  };
  if (!entry->is_array() || !std::all_of(entry->begin(), entry->end(), is_named_template))
    throw ConfigError(fmt::format(
        "{}: chat_template must be a string or a list of {{\"name\", \"template\"}} objects", path));
  for (const Json& item : *entry)
    templates[item["name"].get<std::string>()] = item["template"].get<std::string>();
  return templates;
}

std::map<std::string, std::string> templates_of_files(const fs::path& folder) {
  std::map<std::string, std::string> templates;
  const fs::path named = folder / "additional_chat_templates";
  if (fs::is_directory(named))
    for (const auto& file : fs::directory_iterator(named))
      if (file.path().extension() == ".jinja")
        templates[file.path().stem().string()] = *read_if_there(file.path());
  if (auto content = read_if_there(folder / "chat_template.jinja"))
    templates["default"] = std::move(*content);
  return templates;
}

}  // namespace

TokenizerFiles read_tokenizer_files(const std::string& folder) {
  const fs::path root(folder);
  TokenizerFiles files;
  files.tokenizer_path = (root / "tokenizer.json").string();
  auto tokenizer_json = read_if_there(files.tokenizer_path);
  if (!tokenizer_json)
    throw ConfigError(
        fmt::format("{}: not there. A tokenizer is read from a Hugging Face folder with a tokenizer.json; "
                    "models that ship only "
                    "tokenizer.model or vocab.json can be saved again with transformers' save_pretrained",
                    files.tokenizer_path));
  files.tokenizer_json = std::move(*tokenizer_json);

  const std::string config_path = (root / "tokenizer_config.json").string();
  const Json config = read_object_if_there(config_path);
  read_special_tokens(config, files.special_tokens);
  // Older folders, whose config does not describe the added tokens, keep the last word here.
  if (!config.contains("added_tokens_decoder"))
    read_special_tokens(read_object_if_there(root / "special_tokens_map.json"), files.special_tokens);

  files.chat_templates = templates_of_files(root);
  files.chat_templates_path = (root / "chat_template.jinja").string();
  if (files.chat_templates.empty()) {
    files.chat_templates = templates_of_config(config, config_path);
    files.chat_templates_path = config_path;
  }
  return files;
}

}  // namespace lockstep::text
