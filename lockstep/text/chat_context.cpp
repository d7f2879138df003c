#include "lockstep/text/chat_context.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::text {
namespace {

Json without_nulls(const Json& message) {
  Json kept = Json::object();
  for (const auto& [key, value] : message.items())
    if (!value.is_null()) kept[key] = value;
  return kept;
}

Json with_reasoning_under_each_name(Json message) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    const auto reasoning = message.find(name);
    if (reasoning == message.end()) continue;
    const Json value = *reasoning;
    if (!message.contains("thinking")) message["thinking"] = value;
    message["reasoning_content"] = value;
    break;
  }
  return message;
}

}  // namespace

Json normalized_messages(const Json& messages) {
  if (!messages.is_array() || messages.empty())
    throw DataError(fmt::format("messages must be a list of at least one message, got {}",
                                messages.is_array() ? "an empty list" : messages.type_name()));
  Json normalized = Json::array();
  for (const Json& message : messages) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string())
      throw DataError(
          fmt::format("messages[{}] must be an object with a string \"role\"", normalized.size()));
    normalized.push_back(with_reasoning_under_each_name(without_nulls(message)));
  }
  return normalized;
}

std::string chat_context(const Json& messages, const Json& tools, bool add_generation_prompt,
                         const std::map<std::string, std::string>& special_tokens) {
  Json context = {{"messages", messages},
                  {"tools", tools},
                  {"documents", nullptr},
                  {"add_generation_prompt", add_generation_prompt}};
  for (const auto& [name, token] : special_tokens) context[name] = token;
  try {
    return context.dump();
  } catch (const Json::type_error& error) {
    throw DataError(fmt::format("messages hold text that is not UTF-8: {}", error.what()));
  }
}

}  // namespace lockstep::text
