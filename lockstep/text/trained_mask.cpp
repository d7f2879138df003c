#include "lockstep/text/trained_mask.h"

#include <string_view>

#include "lockstep/text/whitespace.h"

namespace lockstep::text {
namespace {

// Calls `visit(token index, span)` for each pair that overlaps. Both lists are in order.
template <typename Visit>
void for_each_overlap(const std::vector<PlacedToken>& tokens, const std::vector<TextSpan>& spans,
                      Visit visit) {
  auto span = spans.begin();
  for (size_t i = 0; i < tokens.size(); ++i) {
    while (span != spans.end() && tokens[i].begin >= span->end) ++span;
    if (span == spans.end()) return;
    if (tokens[i].end > span->begin) visit(i, *span);
  }
}

std::string_view between(const std::string& text, size_t begin, size_t end) {
  return std::string_view(text).substr(begin, end - begin);
}

bool belongs_to_header(const std::string& text, const PlacedToken& token, const TextSpan& span) {
  if (token.begin >= span.begin) return false;
  return !is_whitespace(between(text, token.begin, span.begin)) ||
         is_whitespace(between(text, span.begin, token.end));
}

// The spans, each cut after its end of turn.
std::vector<TextSpan> without_tails(const std::string& text, const std::vector<PlacedToken>& tokens,
                                    std::vector<TextSpan> spans, const RustTokenizer& tokenizer) {
  std::vector<size_t> end_of_last_special(spans.size(), 0);
  for_each_overlap(tokens, spans, [&](size_t i, const TextSpan& span) {
    if (tokenizer.is_special(tokens[i].id)) end_of_last_special[&span - spans.data()] = tokens[i].end;
  });
  for (size_t i = 0; i < spans.size(); ++i)
    if (const size_t end = end_of_last_special[i];
        end > 0 && end < spans[i].end && is_whitespace(between(text, end, spans[i].end)))
      spans[i].end = end;
  return spans;
}

}  // namespace

std::vector<uint8_t> mask_of_generated(const std::vector<PlacedToken>& tokens,
                                       const std::vector<TextSpan>& spans) {
  std::vector<uint8_t> mask(tokens.size(), 0);
  for_each_overlap(tokens, spans, [&](size_t i, const TextSpan&) { mask[i] = 1; });
  return mask;
}

std::vector<uint8_t> mask_of_turns(const std::string& text, const std::vector<PlacedToken>& tokens,
                                   const std::vector<TextSpan>& spans, const RustTokenizer& tokenizer) {
  std::vector<uint8_t> mask(tokens.size(), 0);
  for_each_overlap(tokens, without_tails(text, tokens, spans, tokenizer),
                   [&](size_t i, const TextSpan& span) {
                     if (!belongs_to_header(text, tokens[i], span)) mask[i] = 1;
                   });
  return mask;
}

}  // namespace lockstep::text
