#include "lockstep/text/chat_template.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/text/rust_string.h"

namespace lockstep::text {

void ChatTemplate::Free::operator()(LockstepTextTemplate* chat_template) const {
  lockstep_text_template_free(chat_template);
}

ChatTemplate::ChatTemplate(const std::string& source, const std::string& path) : path_(path) {
  LockstepTextTemplate* handle = nullptr;
  LockstepTextString error;
  if (!lockstep_text_template_new(source.data(), source.size(), &handle, &error))
    throw ConfigError(fmt::format("{}: the chat template does not parse: {}", path, take(error)));
  handle_.reset(handle);
}

RenderedText ChatTemplate::render(const std::string& context) const {
  LockstepTextRendered rendered;
  LockstepTextString error;
  if (!lockstep_text_render(handle_.get(), context.data(), context.size(), &rendered, &error))
    throw DataError(
        fmt::format("the chat template in {} does not take these messages: {}", path_, take(error)));

  RenderedText result{std::string(rendered.text.data, rendered.text.size), {}};
  for (size_t i = 0; i < rendered.generated.size; ++i) {
    const LockstepTextSpan& span = rendered.generated.data[i];
    result.generated.push_back({span.begin, span.end});
  }
  lockstep_text_rendered_free(rendered);
  return result;
}

bool ChatTemplate::marks_generation() const { return lockstep_text_template_marks_generation(handle_.get()); }

}  // namespace lockstep::text
