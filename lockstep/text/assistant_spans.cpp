#include "lockstep/text/assistant_spans.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/text/whitespace.h"

namespace lockstep::text {
namespace {

Json first_messages(const Json& messages, size_t count) {
  Json first = Json::array();
  for (size_t i = 0; i < count; ++i) first.push_back(messages[i]);
  return first;
}

class SpanFinder {
 public:
  SpanFinder(const Json& messages, const std::string& chat, const std::vector<PlacedToken>& tokens,
             const Render& render, const RustTokenizer& tokenizer)
      : messages_(messages), chat_(chat), tokens_(tokens), render_(render), tokenizer_(tokenizer) {}

  TextSpan find(size_t index) const {
    const Json before = first_messages(messages_, index);
    const auto chat_before = render_(before, /*add_generation_prompt=*/false);
    const auto prompt = render_(before, /*add_generation_prompt=*/true);
    // If both are the same, what looks like the end of a turn may be a header, or have one before it.
    const bool prompt_is_separate = prompt && prompt != chat_before;

    const auto begin = prompt_is_separate && chat_.starts_with(*prompt)
                           ? std::optional(prompt->size())
                           : begin_by_content(index, chat_before);
    if (!begin) refuse(index, "begins");
    const auto end = end_of_turn(index, *begin, prompt_is_separate);
    if (!end) refuse(index, "ends");
    return {*begin, *end};
  }

 private:
  std::optional<size_t> begin_by_content(size_t index, const std::optional<std::string>& chat_before) const {
    const auto content = place_of_content(index);
    if (!content) return std::nullopt;
    // Without a header, as in "[/INST] answer", the space before the answer is the assistant's: its
    // first token holds it.
    if (chat_before && chat_.starts_with(*chat_before) && chat_before->size() <= content->begin &&
        is_whitespace(between(chat_before->size(), content->begin)))
      return chat_before->size();
    return content->begin;
  }

  std::optional<size_t> end_of_turn(size_t index, size_t begin, bool prompt_is_separate) const {
    const bool is_last = index + 1 == messages_.size();
    const auto chat_up_to_turn =
        is_last ? chat_ : render_(first_messages(messages_, index + 1), /*add_generation_prompt=*/false);
    const bool continues =
        chat_up_to_turn && chat_up_to_turn->size() >= begin && chat_.starts_with(*chat_up_to_turn);
    if (continues && prompt_is_separate) return chat_up_to_turn->size();
    if (const auto end = end_by_content(index); end && *end >= begin) return end;
    if (continues) return chat_up_to_turn->size();
    if (chat_up_to_turn && prompt_is_separate) return end_by_token(*chat_up_to_turn, begin, index + 1);
    return std::nullopt;
  }

  // The special token that follows the content, unless tool calls come in between.
  std::optional<size_t> end_by_content(size_t index) const {
    if (shows_tool_calls(index)) return std::nullopt;
    const auto content = place_of_content(index);
    if (!content) return std::nullopt;
    for (const PlacedToken& token : tokens_)
      if (token.begin >= content->end && tokenizer_.is_special(token.id))
        return is_whitespace(between(content->end, token.begin)) ? std::optional(token.end) : std::nullopt;
    return std::nullopt;
  }

  bool shows_tool_calls(size_t index) const {
    if (!messages_[index].contains("tool_calls")) return false;
    Json without = messages_;
    without[index].erase("tool_calls");
    return render_(without, /*add_generation_prompt=*/false) != chat_;
  }

  // The first token after `begin` like that which ends `chat_up_to_turn`, if it is the turn's own.
  std::optional<size_t> end_by_token(const std::string& chat_up_to_turn, size_t begin,
                                     size_t next_index) const {
    const auto turn_tokens = tokenizer_.encode_with_places(chat_up_to_turn, /*add_special_tokens=*/false);
    const auto last = std::find_if(turn_tokens.rbegin(), turn_tokens.rend(),
                                   [&](const PlacedToken& token) { return tokenizer_.is_special(token.id); });
    const auto next_content = place_of_content(next_index);
    if (last == turn_tokens.rend() || !next_content) return std::nullopt;
    for (const PlacedToken& token : tokens_)
      if (token.begin >= begin && token.id == last->id)
        return token.end <= next_content->begin ? std::optional(token.end) : std::nullopt;
    return std::nullopt;
  }

  // The bytes of the chat that depend on what the message says.
  std::optional<TextSpan> place_of_content(size_t index) const {
    const auto with_content = [&](const char* content) {
      Json changed = messages_;
      changed[index]["content"] = content;
      return render_(changed, /*add_generation_prompt=*/false);
    };
    const auto a = with_content("A");
    const auto b = with_content("B");
    if (!a || !b || *a == *b) return std::nullopt;
    const auto prefix = std::mismatch(a->begin(), a->end(), b->begin(), b->end()).first - a->begin();
    const auto suffix = std::mismatch(a->rbegin(), a->rend(), b->rbegin(), b->rend()).first - a->rbegin();
    const std::string_view header(a->data(), prefix);
    const std::string_view rest(a->data() + a->size() - suffix, suffix);
    if (chat_.size() < header.size() + rest.size() || !chat_.starts_with(header) || !chat_.ends_with(rest))
      return std::nullopt;
    return TextSpan{header.size(), chat_.size() - rest.size()};
  }

  std::string_view between(size_t begin, size_t end) const {
    return std::string_view(chat_).substr(begin, end - begin);
  }

  [[noreturn]] void refuse(size_t index, const char* what) const {
    throw DataError(
        fmt::format("messages[{}]: cannot tell where the assistant's turn {} in the rendered chat, so what "
                    "to train on is "
                    "ambiguous. Mark the assistant's text in the chat template with {{% generation %}} and "
                    "{{% endgeneration %}}, "
                    "or set data.train_on to all",
                    index, what));
  }

  const Json& messages_;
  const std::string& chat_;
  const std::vector<PlacedToken>& tokens_;
  const Render& render_;
  const RustTokenizer& tokenizer_;
};

}  // namespace

std::vector<TextSpan> assistant_spans(const Json& messages, const std::string& chat,
                                      const std::vector<PlacedToken>& tokens, const Render& render,
                                      const RustTokenizer& tokenizer) {
  const SpanFinder finder(messages, chat, tokens, render, tokenizer);
  std::vector<TextSpan> spans;
  for (size_t index = 0; index < messages.size(); ++index)
    if (messages[index]["role"] == "assistant") spans.push_back(finder.find(index));
  return spans;
}

}  // namespace lockstep::text
