#include "lockstep/train/together.h"

#include <fmt/core.h>

#include "lockstep/base/json.h"
#include "lockstep/comm/exchange_text.h"

namespace lockstep::train {
namespace {

[[noreturn]] void throw_again(const RankFailure& failure) {
  switch (failure.code) {
    case ExitCode::kUsage:
      throw ConfigError(failure.words);
    case ExitCode::kData:
      throw DataError(failure.words);
    case ExitCode::kDoesNotFit:
      throw DoesNotFitError(failure.words);
    case ExitCode::kTransport:
      throw TransportError(failure.words);
    case ExitCode::kGuard:
      throw GuardError(failure.words);
    case ExitCode::kStorage:
      throw IoError(failure.words);
    default:
      throw std::runtime_error(failure.words);
  }
}

}  // namespace

std::vector<RankFailure> failures_of(comm::Mesh& mesh, c10::Device device,
                                     const std::function<void()>& action) {
  std::string mine;
  try {
    action();
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::kPeerLost || error.exit_code() == ExitCode::kHang) throw;
    mine = Json{{"code", static_cast<int>(error.exit_code())}, {"words", error.what()}}.dump(
        -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  }
  std::vector<RankFailure> failures;
  const auto texts = comm::all_gather_text(mesh.world(), mine, device);
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    const Json failure = Json::parse(texts[rank]);
    failures.push_back({static_cast<int>(rank), static_cast<ExitCode>(failure.at("code").get<int>()),
                        failure.at("words").get<std::string>()});
  }
  return failures;
}

void throw_first(const std::vector<RankFailure>& failures) {
  if (!failures.empty()) throw_again(failures.front());
}

void together(comm::Mesh& mesh, c10::Device device, const std::function<void()>& action) {
  throw_first(failures_of(mesh, device, action));
}

std::string from_rank_0(comm::Mesh& mesh, c10::Device device, const std::function<std::string()>& make) {
  std::string text;
  together(mesh, device, [&] {
    if (mesh.rank() == 0) text = make();
  });
  return comm::broadcast_text(mesh.world(), text, 0, device);
}

}  // namespace lockstep::train
