#include "lockstep/text/chat_template_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/error.h"

namespace lockstep::text {

ChatTemplateSet::ChatTemplateSet(const std::map<std::string, std::string>& sources, const std::string& path)
    : path_(path) {
  for (const auto& [name, source] : sources) {
    try {
      compiled_.emplace(name, ChatTemplate(source, path));
    } catch (const ConfigError& error) {
      errors_.emplace(name, error.what());
    }
  }
}

const ChatTemplate& ChatTemplateSet::choose(bool with_tools) const {
  const bool has_tool_use = compiled_.contains("tool_use") || errors_.contains("tool_use");
  const std::string name = with_tools && has_tool_use ? "tool_use" : "default";
  if (const auto found = compiled_.find(name); found != compiled_.end()) return found->second;
  if (const auto failed = errors_.find(name); failed != errors_.end()) throw ConfigError(failed->second);
  if (empty())
    throw ConfigError(fmt::format(
        "{}: no chat template, so messages cannot be turned into text. Put one into chat_template.jinja "
        "beside it, or train on data.shape: text",
        path_));
  std::vector<std::string> names;
  for (const auto& [other, unused] : compiled_) names.push_back(other);
  for (const auto& [other, unused] : errors_) names.push_back(other);
  throw ConfigError(
      fmt::format("{}: no chat template named {}, only {}", path_, name, fmt::join(names, ", ")));
}

}  // namespace lockstep::text
