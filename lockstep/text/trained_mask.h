// From spans of a text to its tokens: which of them are targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/text/rust_tokenizer.h"
#include "lockstep/text/text_span.h"

namespace lockstep::text {

// What {% generation %} blocks wrote, as transformers reads it: every token that overlaps a span.
std::vector<uint8_t> mask_of_generated(const std::vector<PlacedToken>& tokens,
                                       const std::vector<TextSpan>& spans);

// What assistant_spans found. A span's tail of white space after its last special token, the end of
// the turn, is not trained: the model stops before it. A token that begins in the header and
// reaches into the span counts only when it takes nothing but white space from the header and brings
// visible text (" the" after "assistant:"); a "\n\n" across the border is the header's.
std::vector<uint8_t> mask_of_turns(const std::string& text, const std::vector<PlacedToken>& tokens,
                                   const std::vector<TextSpan>& spans, const RustTokenizer& tokenizer);

}  // namespace lockstep::text
