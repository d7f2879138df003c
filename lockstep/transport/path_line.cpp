#include "lockstep/transport/path_line.h"

#include "lockstep/transport/net_name.h"
#include "lockstep/transport/text_scanner.h"

namespace lockstep::transport {
namespace {

// "AWS Libfabric/0(3)/GDRDMA(PCI)/Shared". Read from the end: the name may hold blanks and slashes.
bool parse_net(std::string_view text, PathLine& path) {
  take_at_end(text, "/Shared");
  const bool by_pci = take_at_end(text, "(PCI)");
  path.gpu_direct = take_at_end(text, "/GDRDMA");
  if (by_pci && !path.gpu_direct) return false;
  uint32_t proxy = 0;
  if (take_at_end(text, ")") && (!take_number_at_end(text, proxy) || !take_at_end(text, "("))) return false;
  if (!take_number_at_end(text, path.net_device) || !take_at_end(text, "/")) return false;
  path.net = text;
  return is_net_name(text);
}

bool parse_p2p(std::string_view text, PathLine& path) {
  take_at_end(text, "/CE");
  take_at_end(text, "/read");
  path.medium = text == "MNNVL" ? PathLine::Medium::kMnnvl : PathLine::Medium::kP2p;
  if (text == "CUMEM" || text == "IPC" || text == "MNNVL" || text == "direct pointer" ||
      text == "common device")
    return true;
  uint32_t rank = 0;
  std::string_view label;
  TextScanner indirect(text);
  return indirect.take("indirect/") && indirect.number(rank) && indirect.take('[') &&
         indirect.identifier(label) && indirect.take(']') && indirect.at_end();
}

bool parse_shm(std::string_view text, PathLine& path) {
  path.medium = PathLine::Medium::kShm;
  return text == "direct" || text == "direct/direct" || text == "CE/CE" || text == "direct/CE" ||
         text == "CE/direct";
}

bool parse_medium(std::string_view text, bool has_end, PathLine& path) {
  TextScanner scanner(text);
  if (scanner.take("NET/")) return has_end && parse_net(scanner.rest(), path);
  if (has_end) return false;
  if (scanner.take("P2P/")) return parse_p2p(scanner.rest(), path);
  if (scanner.take("SHM/")) return parse_shm(scanner.rest(), path);
  path.medium = PathLine::Medium::kShm;
  return text == "direct shared memory";
}

constexpr uint32_t kMaxRanks = 1 << 20;  // more than any job has; a larger number is a glued one

// "7" or "7[101d0]".
bool parse_rank(TextScanner& scanner, uint32_t& rank, std::string_view& label) {
  if (!scanner.number(rank) || rank >= kMaxRanks) return false;
  return !scanner.take('[') || (scanner.identifier(label) && scanner.take(']'));
}

// Passes "[send] " or "[receive] ".
bool parse_end(TextScanner& scanner, bool& is_sender) {
  is_sender = scanner.take("[send] ");
  return is_sender || scanner.take("[receive] ");
}

// " comm 0x55aa nRanks 02".
void take_rccl_suffix(std::string_view& text) {
  const size_t at = text.rfind(" comm ");
  if (at == text.npos) return;
  TextScanner scanner(text.substr(at + 6));
  uint64_t pointer = 0;
  uint32_t num_ranks = 0;
  if (scanner.hex(pointer) && scanner.take(" nRanks ") && scanner.number(num_ranks) && scanner.at_end())
    text = text.substr(0, at);
}

std::optional<PathLine> parse_collnet(TextScanner scanner) {
  PathLine path;
  path.medium = PathLine::Medium::kCollNet;
  uint32_t channel = 0, connection = 0;
  if (!scanner.number(channel)) return std::nullopt;
  if (scanner.take('/') && !scanner.number(connection)) return std::nullopt;
  std::string_view label;
  if (!scanner.take(" : ") || !parse_rank(scanner, path.own_rank, label) || !scanner.take(' ') ||
      !parse_end(scanner, path.is_sender) || !scanner.take("via COLLNET/") ||
      !parse_net(scanner.rest(), path)) {
    return std::nullopt;
  }
  path.peer_rank = path.own_rank;
  return path;
}

}  // namespace

std::optional<PathLine> parse_path_line(std::string_view text) {
  PathLine path;
  TextScanner scanner(text);
  if (scanner.take("CollNet ")) return parse_collnet(scanner);
  const bool is_ring = scanner.take("Ring ");
  if (!is_ring && !scanner.take("Channel ")) return std::nullopt;

  uint32_t channel = 0, connection = 0, from = 0, to = 0;
  std::string_view from_label, to_label;
  if (!scanner.number(channel)) return std::nullopt;
  const bool has_connection = scanner.take('/');
  if (has_connection && !scanner.number(connection)) return std::nullopt;
  if (!scanner.take(" : ") || !parse_rank(scanner, from, from_label) || !scanner.take(" -> ") ||
      !parse_rank(scanner, to, to_label) || !scanner.take(' ')) {
    return std::nullopt;
  }
  const bool has_end = parse_end(scanner, path.is_sender);
  if (!has_end) path.is_sender = true;
  if (!scanner.take("via ")) return std::nullopt;
  std::string_view medium = scanner.rest();
  take_rccl_suffix(medium);
  if (!parse_medium(medium, has_end, path)) return std::nullopt;

  path.before_2_18 = is_ring || (!has_connection && path.medium != PathLine::Medium::kShm);
  path.own_rank = path.is_sender ? from : to;
  path.peer_rank = path.is_sender ? to : from;
  path.own_label = path.is_sender ? from_label : to_label;
  path.peer_label = path.is_sender ? to_label : from_label;
  return path;
}

}  // namespace lockstep::transport
