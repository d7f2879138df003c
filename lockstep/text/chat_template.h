// One Jinja chat template, rendered as Hugging Face transformers does, through the Rust library.
// Const calls are safe from several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/text/text_span.h"

struct LockstepTextTemplate;  // rust/text/include/lockstep_text.h

namespace lockstep::text {

struct RenderedText {
  std::string text;
  std::vector<TextSpan> generated;  // what {% generation %} blocks wrote, in order, not overlapping
};

class ChatTemplate {
 public:
  // `path` is for messages alone. Throws ConfigError for a template that does not parse.
  ChatTemplate(const std::string& source, const std::string& path);

  // `context` is a JSON object with the template's variables. Throws DataError when the template
  // refuses them (raise_exception) or trips over them.
  RenderedText render(const std::string& context) const;

  // Whether the template has {% generation %} blocks at all.
  bool marks_generation() const;

 private:
  struct Free {
    void operator()(LockstepTextTemplate* chat_template) const;
  };
  std::unique_ptr<LockstepTextTemplate, Free> handle_;
  std::string path_;
};

}  // namespace lockstep::text
