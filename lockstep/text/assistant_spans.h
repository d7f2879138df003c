// Where the assistant speaks in a rendered chat whose template has no {% generation %} marks.
//
// A turn begins where the prompt that asks for it ends, and ends where the chat up to it ends:
//   begin = | render(messages before the turn, with the generation prompt) |
//   end   = | render(messages up to the turn) |
// both as prefixes of the whole chat. Not every template is so regular: some know no generation
// prompt or always write one, some render a turn differently once more follows (they drop old
// reasoning), some refuse a part of a chat. Then two chats that differ in nothing but the turn's
// content say where that content stands, and the turn ends with the special token after it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/text/rust_tokenizer.h"
#include "lockstep/text/text_span.h"

namespace lockstep::text {

// Renders a chat; nullopt when the template refuses it.
using Render = std::function<std::optional<std::string>(const Json& messages, bool add_generation_prompt)>;

// `chat` is what `render` gives for all of `messages`, `tokens` what `tokenizer` makes of it. One
// span an assistant message, in order, in bytes: its content and what follows up to and with its
// end-of-turn token, never its header. Throws DataError, with the message's index, where none of
// this finds the turn. Cost: two renderings for each assistant message, up to eight for an irregular
// template.
std::vector<TextSpan> assistant_spans(const Json& messages, const std::string& chat,
                                      const std::vector<PlacedToken>& tokens, const Render& render,
                                      const RustTokenizer& tokenizer);

}  // namespace lockstep::text
