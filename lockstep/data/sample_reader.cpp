#include "lockstep/data/sample_reader.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"

namespace lockstep::data {
namespace {

// A copy of `value` without the object members that are null. Elements of arrays stay, since
// taking one away would move the others.
Json without_nulls(const Json& value) {
  if (value.is_object()) {
    Json kept = Json::object();
    for (const auto& [key, member] : value.items()) {
      if (!member.is_null()) kept[key] = without_nulls(member);
    }
    return kept;
  }
  if (value.is_array()) {
    Json kept = Json::array();
    for (const auto& element : value) kept.push_back(without_nulls(element));
    return kept;
  }
  return value;
}

uint64_t hash_content(const Json& content) {
  // Through the sorted JSON type, so that the order of a record's fields does not count.
  return std::stoull(sha256_hex(nlohmann::json(content).dump()).substr(0, 16), nullptr, 16);
}

// The record's `field`, or an error that says which shape would fit what is there instead.
const Json& required(const Json& record, const char* field, const std::string& place) {
  const auto found = record.find(field);
  if (found != record.end() && !found->is_null()) return *found;
  const char* other = std::string_view(field) == "text" ? "messages" : "text";
  if (record.contains(other) && !record[other].is_null()) {
    throw DataError(
        fmt::format("{}: no field '{}', but '{}': set data.shape={}", place, field, other, other));
  }
  std::string fields;
  for (const auto& [key, value] : record.items()) fields += (fields.empty() ? "" : ", ") + key;
  throw DataError(
      fmt::format("{}: no field '{}' (fields: {}): rename the record's field or change data.shape", place,
                  field, fields.empty() ? "none" : fields));
}

// Checks the messages and gives a tool call without text its empty content.
void complete_messages(Json& messages, const std::string& place) {
  if (!messages.is_array() || messages.empty()) {
    throw DataError(fmt::format("{}: 'messages' must be a list of at least one message", place));
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    Json& message = messages[i];
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string()) {
      throw DataError(fmt::format("{}: messages[{}] must be an object with a string 'role'", place, i));
    }
    if (message.contains("content")) continue;
    if (!message.contains("tool_calls")) {
      throw DataError(
          fmt::format("{}: messages[{}] (role '{}') has neither content nor tool_calls: "
                      "remove the message, or give it \"\" if it is meant to be empty",
                      place, i, message["role"].get<std::string>()));
    }
    message["content"] = "";
  }
}

}  // namespace

SampleReader::SampleReader(const DataConfig& config, const text::Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      is_text_(config.shape == "text"),
      trains_all_(is_text_ || config.train_on == "all") {
  if (!is_text_ && config.shape != "messages") {
    throw ConfigError(
        fmt::format("data.shape: '{}' is not supported yet: use text or messages", config.shape));
  }
  if (!trains_all_ && config.train_on != "assistant") {
    throw ConfigError(
        fmt::format("data.train_on: unknown value '{}': use assistant or all", config.train_on));
  }
  if (!is_text_ && !tokenizer.has_chat_template()) {
    throw ConfigError(
        "data.shape: messages need a chat template, and the model's folder has none (chat_template.jinja, or "
        "chat_template in tokenizer_config.json): take the template of the model's chat version, or "
        "data.shape=text");
  }
}

Sample SampleReader::read(const Json& record, const std::string& place) const {
  return is_text_ ? read_text(record, place) : read_messages(record, place);
}

Sample SampleReader::read_text(const Json& record, const std::string& place) const {
  const Json& text = required(record, "text", place);
  if (!text.is_string())
    throw DataError(fmt::format("{}: 'text' is {}, not a string", place, text.type_name()));
  Sample sample;
  sample.ids = tokenizer_.encode(text.get<std::string>());
  const auto eos = tokenizer_.eos_id();
  if (eos && (sample.ids.empty() || sample.ids.back() != *eos)) sample.ids.push_back(*eos);
  sample.trained.assign(sample.ids.size(), 1);
  sample.content_hash = hash_content(text);
  return sample;
}

Sample SampleReader::read_messages(const Json& record, const std::string& place) const {
  Json content = {{"messages", without_nulls(required(record, "messages", place))}};
  complete_messages(content["messages"], place);
  if (record.contains("tools") && !record["tools"].is_null())
    content["tools"] = without_nulls(record["tools"]);
  try {
    auto chat = tokenizer_.render_chat(content["messages"], content.value("tools", Json()),
                                       trains_all_ ? text::TrainOn::kAll : text::TrainOn::kAssistant);
    return {std::move(chat.ids), std::move(chat.trained), hash_content(content)};
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", place, error.what()));
  }
}

}  // namespace lockstep::data
