#include "lockstep/transport/comm_line.h"

#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

constexpr uint32_t kMaxRanks = 1 << 20;  // more than any machine has; a larger number is a glued one

// "[Rank 3] ncclCommInitRankConfig ", each part optional.
void take_function(TextScanner& scanner) {
  uint32_t rank = 0;
  TextScanner with_rank = scanner;
  if (with_rank.take("[Rank ") && with_rank.number(rank) && with_rank.take("] ")) scanner = with_rank;
  std::string_view name;
  TextScanner with_name = scanner;
  if (with_name.identifier(name) && name.starts_with("ncclComm") && with_name.take(' ')) scanner = with_name;
}

// One "name value" of those that may follow nranks.
bool parse_field(TextScanner& scanner, CommLine& line) {
  const auto value = [&](auto& field, int base = 10) { return scanner.number(field, base); };
  const auto pointer = [&](std::optional<uint64_t>& field) { return scanner.hex(field.emplace()); };
  uint32_t ignored = 0;
  int64_t key = 0;
  if (scanner.take("cudaDev ")) return value(ignored);
  if (scanner.take("nvmlDev ")) return value(line.nvml_device.emplace());
  if (scanner.take("busId ")) return value(line.bus_id.emplace(), 16);
  if (scanner.take("commId ")) return pointer(line.comm_id);
  if (scanner.take("parent ")) return pointer(line.parent);
  if (scanner.take("splitCount ") || scanner.take("childCount ")) return value(line.split_count.emplace());
  if (scanner.take("color ")) return value(line.color);
  if (scanner.take("key ")) return value(key);
  if (scanner.take("nNodes ")) return value(line.num_nodes);
  if (scanner.take("localRanks ") || scanner.take("localRank ")) return value(ignored);
  if (scanner.take("MNNVL ")) {
    const bool is_number = value(ignored);
    line.is_mnnvl = ignored != 0;
    return is_number;
  }
  return false;
}

bool parse_event(std::string_view text, CommLine& line) {
  if (text == "- Init START") {
    line.event = CommLine::Event::kStart;
  } else if (text == "- Init COMPLETE") {
    line.event = CommLine::Event::kComplete;
  } else if (text == "- Destroy COMPLETE" || text == "- Abort COMPLETE") {
    line.event = CommLine::Event::kEnd;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<CommLine> parse_comm_line(std::string_view text) {
  TextScanner scanner(text);
  take_function(scanner);
  CommLine line;
  if (!scanner.take("comm ") || !scanner.hex(line.pointer) || !scanner.take(" rank ") ||
      !scanner.number(line.rank))
    return std::nullopt;
  if ((!scanner.take(" nranks ") && !scanner.take(" nRanks ")) || !scanner.number(line.num_ranks))
    return std::nullopt;
  if (line.rank >= line.num_ranks || line.num_ranks > kMaxRanks) return std::nullopt;
  // "key 0- Init START" has no blank before its event.
  bool ends_in_mnnvl = false;
  for (;;) {
    const bool blank = scanner.take(' ');
    if (parse_event(scanner.rest(), line)) return line;
    if (!blank) break;
    ends_in_mnnvl = scanner.rest().starts_with("MNNVL ");
    if (!parse_field(scanner, line)) return std::nullopt;
  }
  // The nNodes line has no event; its last field tells that it is whole.
  if (!scanner.at_end() || !ends_in_mnnvl || line.num_nodes == 0) return std::nullopt;
  line.event = CommLine::Event::kShape;
  return line;
}

}  // namespace lockstep::transport
