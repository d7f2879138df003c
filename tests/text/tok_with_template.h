// The small tokenizer of the public cases with another chat template.
#pragma once

#include <memory>
#include <string>

#include "lockstep/text/tokenizer.h"
#include "tests/text/temp_folder.h"
#include "tests/text/text_data.h"

namespace lockstep::text {

class TokWithTemplate {
 public:
  explicit TokWithTemplate(const std::string& chat_template) {
    folder_.copy(data_path("tok")).write("chat_template.jinja", chat_template);
    tokenizer_ = Tokenizer::from_pretrained(folder_.path());
  }
  const Tokenizer* operator->() const { return tokenizer_.get(); }

 private:
  TempFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace lockstep::text
