#include "lockstep/transport/log_record.h"

#include <algorithm>
#include <cstring>

#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

constexpr char kEscape = '\x1b';

// Takes out terminal escapes: ESC [ parameters letter, and ESC with any other character.
std::string_view without_escapes(std::string_view line, std::string& scratch) {
  size_t escape = line.find(kEscape);
  if (escape == line.npos) return line;
  scratch.clear();
  while (escape != line.npos) {
    scratch += line.substr(0, escape);
    line.remove_prefix(escape + 1);
    if (line.starts_with('[')) {
      size_t end = 1;
      while (end < line.size() && (line[end] < '@' || line[end] > '~')) ++end;
      line.remove_prefix(std::min(end + 1, line.size()));
    } else if (!line.empty()) {
      line.remove_prefix(1);
    }
    escape = line.find(kEscape);
  }
  scratch += line;
  return scratch;
}

// A container runtime's {"log":"...\n","stream":...}: the text ends before the escaped newline.
std::string_view without_json_tail(std::string_view line, std::string_view text) {
  if (!line.starts_with('{')) return text;
  return text.substr(0, std::min(text.find("\\n\""), text.find("\",\"")));
}

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool is_host_character(char c) { return TextScanner::is_word(c) || c == '.' || c == '-'; }

// Reads "HOST:PID:TID [DEV]" at the end of `text`; `text` becomes what stands before it.
bool take_process_before(std::string_view& text, LogRecord& record) {
  std::string_view left = text;
  uint32_t device = 0;
  if (!take_at_end(left, "]") || !take_number_at_end(left, device)) return false;
  take_at_end(left, "-");  // the device is -1 before CUDA is there
  if (!take_at_end(left, " [") || !take_number_at_end(left, record.tid) || !take_at_end(left, ":") ||
      !take_number_at_end(left, record.pid) || !take_at_end(left, ":")) {
    return false;
  }
  size_t begin = left.size();
  while (begin > 0 && is_host_character(left[begin - 1])) --begin;
  record.host = left.substr(begin);
  if (record.host.empty() || record.host.size() > 64) return false;  // Linux' HOST_NAME_MAX
  text = left.substr(0, begin);
  return true;
}

// In a warning the place in the source, which may be a C++ signature, stands between process and
// "NCCL WARN": of all "[DEV]" the last one that a process stands before.
bool take_warning_process(std::string_view& text, LogRecord& record) {
  for (size_t close = text.rfind("] "); close != text.npos;
       close = close ? text.rfind("] ", close - 1) : text.npos) {
    std::string_view before = text.substr(0, close + 1);
    if (take_process_before(before, record)) {
      text = before;
      return true;
    }
  }
  return false;
}

// The ip of "(RayTrainWorker pid=950, ip=192.0.2.12) " at the end of `before`. Ray's prefix names
// the process of the record; one that names another is a piece of another line.
std::string_view ray_ip(std::string_view before, uint32_t pid) {
  const size_t begin = before.rfind('(');
  if (begin == before.npos) return {};
  TextScanner scanner(before.substr(begin));
  std::string_view name, ip;
  uint32_t prefix_pid = 0;
  const bool is_prefix = scanner.until('=', name) && (name == "(pid" || name.ends_with(" pid")) &&
                         scanner.number(prefix_pid) && scanner.take(", ip=") && scanner.until(')', ip) &&
                         scanner.rest() == " ";
  if (!is_prefix || prefix_pid != pid || ip.empty() || ip.size() > 64) return {};
  return ip.find_first_not_of("0123456789abcdefABCDEF.:") == ip.npos ? ip : std::string_view();
}

// The pod of "[pod/NAME/CONTAINER] " in what stands before the record.
std::string_view pod_name(std::string_view before) {
  const size_t pod = before.find("[pod/");
  if (pod == before.npos) return {};
  const std::string_view value = before.substr(pod + 5);
  const size_t end = value.find_first_of("/]");
  return end != value.npos && end > 0 && end <= 253 ? value.substr(0, end) : std::string_view();
}

std::string_view node_of(std::string_view before, uint32_t pid) {
  const std::string_view ip = ray_ip(before, pid);
  return ip.empty() ? pod_name(before) : ip;
}

// Cuts Ray's " [repeated 15x across cluster]" and its note, and returns the count.
uint32_t take_repeats(std::string_view& text) {
  constexpr std::string_view kMark = " [repeated ";
  // string_view's own search stops at every blank.
  const void* found = ::memmem(text.data(), text.size(), kMark.data(), kMark.size());
  if (found == nullptr) return 1;
  const size_t mark = static_cast<size_t>(static_cast<const char*>(found) - text.data());
  TextScanner scanner(text.substr(mark + kMark.size()));
  uint32_t count = 0;
  if (!scanner.number(count) || !scanner.take("x across cluster]") || count == 0) return 1;
  text = text.substr(0, mark);
  return count;
}

constexpr std::string_view kNccl = "NCCL ";

struct Mark {
  LogRecord::Kind kind = LogRecord::Kind::kVersion;
  size_t begin = 0;                      // where what stands before the mark ends
  size_t text = std::string_view::npos;  // where the record's text begins
};

// The last " NCCL INFO " or " NCCL WARN "; without one, the last "NCCL version ". None stands before
// `first`.
Mark last_mark(std::string_view line, size_t first) {
  Mark mark;
  bool has_process = false;
  for (size_t at = line.find(kNccl, first); at != line.npos; at = line.find(kNccl, at + kNccl.size())) {
    const std::string_view after = line.substr(at + kNccl.size());
    const bool info = after.starts_with("INFO ");
    if (at > 0 && line[at - 1] == ' ' && (info || after.starts_with("WARN "))) {
      mark = {info ? LogRecord::Kind::kInfo : LogRecord::Kind::kWarning, at - 1, at + kNccl.size() + 5};
      has_process = true;
    } else if (!has_process && after.starts_with("version ")) {
      mark = {LogRecord::Kind::kVersion, at, at};
    }
  }
  return mark;
}

}  // namespace

std::optional<LogRecord> parse_log_record(std::string_view line, std::string& scratch) {
  LogRecord record;
  // Most lines of a training log are none of NCCL's; this one search lets them go.
  const size_t first = line.find(kNccl);
  if (first == line.npos) {
    if (line.find("libfabric:") == line.npos || line.find("<warn>") == line.npos) return std::nullopt;
    record.kind = LogRecord::Kind::kLibfabric;
    record.text = without_trailing_blanks(without_escapes(line, scratch));
    return record;
  }
  const std::string_view plain = without_escapes(line, scratch);
  const size_t removed = line.size() - plain.size();
  const Mark mark = last_mark(plain, first > removed ? first - removed : 0);
  line = plain;
  if (mark.text == line.npos) return std::nullopt;
  record.kind = mark.kind;
  std::string_view before = line.substr(0, mark.begin);
  if (mark.kind == LogRecord::Kind::kInfo && !take_process_before(before, record)) return std::nullopt;
  if (mark.kind == LogRecord::Kind::kWarning && !take_warning_process(before, record)) return std::nullopt;
  record.text = without_json_tail(line, line.substr(mark.text));
  if (!before.empty()) {
    record.node = node_of(before, record.pid);
    record.repeats = take_repeats(record.text);
  }
  record.text = without_trailing_blanks(record.text);
  return record;
}

}  // namespace lockstep::transport
