#include "lockstep/transport/line_splitter.h"

#include <algorithm>

namespace lockstep::transport {

void LineSplitter::keep(std::string_view text) {
  text = text.substr(text.size() - std::min(text.size(), kMaxLineBytes));
  if (begun_.size() + text.size() > kMaxLineBytes) {
    begun_.erase(0, begun_.size() + text.size() - kMaxLineBytes);
  }
  begun_ += text;
}

}  // namespace lockstep::transport
