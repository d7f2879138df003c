// Chat templates against what transformers renders (tests/data/text/make_reference.py).
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/text/chat_template.h"
#include "tests/text/text_data.h"

namespace lockstep::text {
namespace {

// What became of a template, written so that a difference can be read.
std::string outcome(const std::string& chat_template, const std::string& variables) {
  try {
    const RenderedText rendered = ChatTemplate(chat_template, "here").render(variables);
    std::string spans;
    for (const TextSpan& span : rendered.generated) spans += Json{span.begin, span.end}.dump();
    return rendered.text + " generated: " + spans;
  } catch (const Error& error) {
    return "refused";
  }
}

std::string expected_outcome(const Json& reference) {
  if (reference.contains("refused")) return "refused";
  std::string spans;
  for (const Json& span : reference["generated"]) spans += span.dump();
  return reference["text"].get<std::string>() + " generated: " + spans;
}

TEST(JinjaReference, TemplatesRenderAsInTransformers) {
  const Json reference = read_json(data_path("jinja_reference.json"));
  const std::string variables = reference["variables"].dump();
  for (const Json& example : reference["cases"]) {
    const std::string chat_template = example["template"];
    SCOPED_TRACE(chat_template);
    if (example.contains("differs"))
      EXPECT_NE(outcome(chat_template, variables), expected_outcome(example))
          << "no difference left: update the list";
    else
      EXPECT_EQ(outcome(chat_template, variables), expected_outcome(example));
  }
}

}  // namespace
}  // namespace lockstep::text
