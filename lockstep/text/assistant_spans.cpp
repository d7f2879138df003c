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

size_t common_prefix(const std::string& a, const std::string& b) {
  const auto [a_end, b_end] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(a_end - a.begin());
}

class SpanFinder {
 public:
  SpanFinder(const Json& messages, const std::string& chat, const Render& render,
             const RustTokenizer& tokenizer)
      : messages_(messages), chat_(chat), render_(render), tokenizer_(tokenizer) {}

  TextSpan find(size_t index) const {
    const auto begin = begin_of_turn(index);
    if (!begin) refuse(index, "begins");
    const auto end = end_of_turn(index, *begin);
    if (!end) refuse(index, "ends");
    return {*begin, *end};
  }

 private:
  std::optional<size_t> begin_of_turn(size_t index) const {
    const Json before = first_messages(messages_, index);
    const auto chat_before = render_(before, /*add_generation_prompt=*/false);
    const auto prompt = render_(before, /*add_generation_prompt=*/true);
    // Equal: the template knows no generation prompt, and the header would count as the assistant's.
    if (prompt && prompt != chat_before && chat_.starts_with(*prompt)) return prompt->size();

    const auto content = begin_of_content(index);
    if (!content) return std::nullopt;
    // Without a header, as in "[/INST] answer", the space before the answer is the assistant's: its
    // first token holds it.
    if (chat_before && chat_.starts_with(*chat_before) && chat_before->size() <= *content &&
        is_whitespace(std::string_view(chat_).substr(chat_before->size(), *content - chat_before->size())))
      return chat_before->size();
    return content;
  }

  // Where the chat begins to depend on what the message says.
  std::optional<size_t> begin_of_content(size_t index) const {
    const auto with_content = [&](const char* content) {
      Json changed = messages_;
      changed[index]["content"] = content;
      return render_(changed, /*add_generation_prompt=*/false);
    };
    const auto a = with_content("A");
    const auto b = with_content("B");
    if (!a || !b || *a == *b) return std::nullopt;
    const size_t begin = common_prefix(*a, *b);
    if (chat_.compare(0, begin, *a, 0, begin) != 0) return std::nullopt;
    return begin;
  }

  std::optional<size_t> end_of_turn(size_t index, size_t begin) const {
    if (index + 1 == messages_.size()) return chat_.size();
    const auto chat_up_to_turn =
        render_(first_messages(messages_, index + 1), /*add_generation_prompt=*/false);
    if (!chat_up_to_turn) return std::nullopt;
    if (chat_up_to_turn->size() >= begin && chat_.starts_with(*chat_up_to_turn))
      return chat_up_to_turn->size();

    const auto end_token = last_special_token(*chat_up_to_turn);
    const auto next_content = begin_of_content(index + 1);
    if (!end_token || !next_content) return std::nullopt;
    for (const PlacedToken& token : tokenizer_.encode_with_places(chat_, /*add_special_tokens=*/false))
      if (token.begin >= begin && token.id == *end_token)
        return token.end <= *next_content ? std::optional(token.end) : std::nullopt;
    return std::nullopt;
  }

  std::optional<TokenId> last_special_token(const std::string& text) const {
    const auto tokens = tokenizer_.encode_with_places(text, /*add_special_tokens=*/false);
    const auto last = std::find_if(tokens.rbegin(), tokens.rend(),
                                   [&](const PlacedToken& token) { return tokenizer_.is_special(token.id); });
    return last == tokens.rend() ? std::nullopt : std::optional(last->id);
  }

  [[noreturn]] void refuse(size_t index, const char* what) const {
    throw DataError(
        fmt::format("messages[{}]: cannot tell where the assistant's turn {} in the rendered chat, so what "
                    "to train on is "
                    "ambiguous. Mark the assistant's text in the chat template with {{% generation %}} … {{% "
                    "endgeneration %}}, "
                    "or set data.train_on to all",
                    index, what));
  }

  const Json& messages_;
  const std::string& chat_;
  const Render& render_;
  const RustTokenizer& tokenizer_;
};

}  // namespace

std::vector<TextSpan> assistant_spans(const Json& messages, const std::string& chat, const Render& render,
                                      const RustTokenizer& tokenizer) {
  const SpanFinder finder(messages, chat, render, tokenizer);
  std::vector<TextSpan> spans;
  for (size_t index = 0; index < messages.size(); ++index)
    if (messages[index]["role"] == "assistant") spans.push_back(finder.find(index));
  return spans;
}

}  // namespace lockstep::text
