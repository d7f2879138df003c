// Where the assistant speaks in a rendered chat whose template has no {% generation %} marks.
//
// A turn begins where the prompt that asks for it ends, and ends where the chat up to that turn ends:
//   begin = | render(messages before the turn, with the generation prompt) |
//   end   = | render(messages up to the turn) |
// both as prefixes of the whole chat. Some templates render a turn differently once more follows
// (they drop old reasoning), refuse a part of a chat, or know no generation prompt. Then
//   begin = where two chats that differ in that turn's content first differ, and
//   end   = the first end-of-turn token after begin, which must come before the next message.
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

// `chat` is what `render` gives for all of `messages`. One span an assistant message, in order, in
// bytes: its content and what follows up to and with its end-of-turn token, never its header.
// Throws DataError, with the message's index, where none of this finds the turn.
// Cost: about three renderings for each assistant message.
std::vector<TextSpan> assistant_spans(const Json& messages, const std::string& chat, const Render& render,
                                      const RustTokenizer& tokenizer);

}  // namespace lockstep::text
