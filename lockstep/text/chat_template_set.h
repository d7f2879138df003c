// A model's chat templates by name, and the rule that picks one.
#pragma once

#include <map>
#include <string>

#include "lockstep/text/chat_template.h"

namespace lockstep::text {

class ChatTemplateSet {
 public:
  // Compiles them all. One that does not parse is remembered with its error, so that a model can
  // still be trained on plain text. `path` is where they come from, for messages alone.
  ChatTemplateSet(const std::map<std::string, std::string>& sources, const std::string& path);

  bool empty() const { return compiled_.empty() && errors_.empty(); }

  // With tools the one named "tool_use" if there is one, else "default". Throws ConfigError when
  // there is none of that name or it does not parse.
  const ChatTemplate& choose(bool with_tools) const;

 private:
  std::map<std::string, ChatTemplate> compiled_;
  std::map<std::string, std::string> errors_;  // name → why it does not parse
  std::string path_;
};

}  // namespace lockstep::text
