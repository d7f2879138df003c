// Hugging Face's tokenizers and chat templates, through the Rust library beside this header.
//
// Rules of every function here:
//  - Text is UTF-8, given as pointer and length in bytes; `data` may be null when the length is 0.
//  - A function that can fail returns false and sets `*error` to a message that the caller frees;
//    on success `*error` is left alone. A Rust panic is such a failure: it never reaches the caller.
//  - What comes out through a pointer belongs to the caller, who frees it with the type's own
//    function. Freeing an empty value (null data) does nothing.
//  - Handles are immutable: several threads may use one at the same time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LockstepTextTokenizer LockstepTextTokenizer;

typedef struct {
  char* data;  // not terminated
  size_t size;
} LockstepTextString;

// A token and the bytes of the text that it covers, [begin, end).
typedef struct {
  uint32_t id;
  size_t begin;
  size_t end;
} LockstepTextToken;

typedef struct {
  LockstepTextToken* data;
  size_t size;
} LockstepTextTokens;

void lockstep_text_string_free(LockstepTextString string);
void lockstep_text_tokens_free(LockstepTextTokens tokens);

// Reads the content of a tokenizer.json. Padding and truncation that it asks for are left out, as
// Hugging Face transformers does: packing decides lengths here.
bool lockstep_text_tokenizer_new(const char* json, size_t json_size, LockstepTextTokenizer** tokenizer,
                                 LockstepTextString* error);
void lockstep_text_tokenizer_free(LockstepTextTokenizer* tokenizer);

// `add_special_tokens` lets the post-processor add its own (BOS and such); tokens written out in
// the text are recognised either way. Without `with_offsets`, which costs time, begin and end are 0.
bool lockstep_text_encode(const LockstepTextTokenizer* tokenizer, const char* text, size_t text_size,
                          bool add_special_tokens, bool with_offsets, LockstepTextTokens* tokens,
                          LockstepTextString* error);

// Ids outside the vocabulary are passed over.
bool lockstep_text_decode(const LockstepTextTokenizer* tokenizer, const uint32_t* ids, size_t num_ids,
                          bool skip_special_tokens, LockstepTextString* text, LockstepTextString* error);

// Highest id + 1, added tokens included.
uint64_t lockstep_text_vocab_size(const LockstepTextTokenizer* tokenizer);

// False when there is no such token.
bool lockstep_text_token_id(const LockstepTextTokenizer* tokenizer, const char* token, size_t token_size,
                            uint32_t* id);

// True for an added token that is marked special, such as an end of turn.
bool lockstep_text_is_special(const LockstepTextTokenizer* tokenizer, uint32_t id);

typedef struct LockstepTextTemplate LockstepTextTemplate;

// Bytes of a text, [begin, end).
typedef struct {
  size_t begin;
  size_t end;
} LockstepTextSpan;

typedef struct {
  LockstepTextSpan* data;
  size_t size;
} LockstepTextSpans;

typedef struct {
  LockstepTextString text;
  LockstepTextSpans generated;  // what {% generation %} blocks wrote, in order, not overlapping
} LockstepTextRendered;

void lockstep_text_rendered_free(LockstepTextRendered rendered);

// Compiles a Jinja chat template as transformers would.
bool lockstep_text_template_new(const char* source, size_t source_size, LockstepTextTemplate** chat_template,
                                LockstepTextString* error);
void lockstep_text_template_free(LockstepTextTemplate* chat_template);

// Whether the template marks what the assistant says with {% generation %}.
bool lockstep_text_template_marks_generation(const LockstepTextTemplate* chat_template);

// Renders with the variables of a JSON object (messages, tools, add_generation_prompt, bos_token, ...).
bool lockstep_text_render(const LockstepTextTemplate* chat_template, const char* context, size_t context_size,
                          LockstepTextRendered* rendered, LockstepTextString* error);

#ifdef __cplusplus
}  // extern "C"
#endif
