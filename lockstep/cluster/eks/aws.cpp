#include "lockstep/cluster/eks/aws.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "lockstep/base/split.h"

namespace lockstep::cluster::eks {
namespace {

// "aws ec2 describe-vpcs": the rest of a command line says little and is long.
std::string short_name(const Command& command) {
  std::string name = command.argv.at(0);
  for (size_t i = 1; i < std::min<size_t>(3, command.argv.size()); ++i) name += " " + command.argv[i];
  return name;
}

// "An error occurred (CODE) when calling the OPERATION operation: MESSAGE", which may go on over lines.
[[noreturn]] void fail(const Command& command, const CommandResult& result) {
  static const std::regex answer(
      R"(An error occurred \(([^)]+)\) when calling the \S+ operation(?: \(reached max retries: \d+\))?: ([^\n]*))");
  std::smatch found;
  if (std::regex_search(result.err, found, answer))
    throw AwsError(fmt::format("{}: {}: {}", short_name(command), found[1].str(), found[2].str()), found[1]);
  const std::string said = last_line(result.err);
  throw CommandError(fmt::format("{}: exit code {}: {}", short_name(command), result.exit_code,
                                 said.empty() ? "without a word" : said));
}

}  // namespace

Json Aws::call(std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"aws"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  for (const std::string& word :
       {std::string("--region"), region_, std::string("--output"), std::string("json")})
    argv.push_back(word);
  return call(Command{.argv = std::move(argv)});
}

Json Aws::call(const Command& command) {
  Command quiet = command;
  quiet.env["AWS_PAGER"] = "";
  const CommandResult result = runner_.run(quiet);
  if (result.timed_out)
    throw CommandError(
        fmt::format("{}: no answer within {} s", short_name(command), command.timeout.count() / 1000));
  if (result.exit_code != 0) fail(command, result);
  if (trimmed(result.out).empty()) return Json();
  Json answer = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  if (answer.is_discarded())
    throw CommandError(
        fmt::format("{}: its answer is no JSON: {}", short_name(command), trimmed(result.out).substr(0, 80)));
  return answer;
}

Json Aws::call_or_null(std::vector<std::string> arguments, const std::vector<std::string>& codes) {
  try {
    return call(std::move(arguments));
  } catch (const AwsError& error) {
    if (std::find(codes.begin(), codes.end(), error.code()) == codes.end()) throw;
    return Json();
  }
}

}  // namespace lockstep::cluster::eks
