// lockstep transport check LOG...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/cli/commands.h"
#include "lockstep/transport/job_logs.h"
#include "lockstep/transport/requirement.h"
#include "lockstep/transport/verdict.h"
#include "lockstep/transport/verdict_json.h"
#include "lockstep/transport/verdict_text.h"
#include "lockstep/transport/verdict_tsv.h"

namespace lockstep::cli {
namespace {

using transport::JobVerdict;
using transport::Level;

enum class Format { kTable, kJson, kTsv };

struct CheckArguments {
  std::vector<std::string> logs;
  std::string require = "any";
  std::string level = "selected";
  std::string format = "table";
};

const std::map<std::string, Level>& levels() {
  static const std::map<std::string, Level> words = {{"selected", Level::kSelected},
                                                     {"connected", Level::kConnected}};
  return words;
}

const std::map<std::string, Format>& formats() {
  static const std::map<std::string, Format> words = {
      {"table", Format::kTable}, {"json", Format::kJson}, {"tsv", Format::kTsv}};
  return words;
}

struct Checked {
  std::string name;
  JobVerdict verdict;
  std::string refusal;  // empty when it is as required
};

std::string refusal(const std::string& name, const JobVerdict& verdict, const CheckArguments& arguments) {
  const transport::Rule rule{.requirement = transport::requirements().at(arguments.require),
                             .least = levels().at(arguments.level)};
  const std::string words = transport::refusal(verdict, rule);
  return words.empty() ? "" : fmt::format("{}: {}", name, words);
}

std::string file_name(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  return name.has_filename() ? name.filename() : name.parent_path().filename();
}

std::string output(const std::vector<Checked>& jobs, const CheckArguments& arguments) {
  std::string text;
  switch (formats().at(arguments.format)) {
    case Format::kTable:
      for (const Checked& job : jobs)
        text += (text.empty() ? "" : "\n") + verdict_text(job.name, job.verdict);
      return text;
    case Format::kTsv:
      text = transport::tsv_header();
      for (const Checked& job : jobs) text += tsv_row(file_name(job.name), job.verdict);
      return text;
    case Format::kJson:
      break;
  }
  Json list = Json::array();
  for (const Checked& job : jobs) {
    Json json = {{"name", job.name}, {"passes", job.refusal.empty()}};
    json.update(verdict_json(job.verdict));
    list.push_back(std::move(json));
  }
  const Json all = {
      {"version", 1}, {"require", arguments.require}, {"require_level", arguments.level}, {"jobs", list}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int check(const CheckArguments& arguments) {
  std::vector<Checked> jobs;
  for (const transport::JobLogs& logs : transport::read_job_logs(arguments.logs)) {
    Checked job{logs.name(), transport::judge(logs.evidence), ""};
    job.refusal = refusal(job.name, job.verdict, arguments);
    jobs.push_back(std::move(job));
  }
  std::cout << output(jobs, arguments) << std::flush;
  size_t refused = 0;
  std::string first;
  for (const Checked& job : jobs) {
    if (job.refusal.empty()) continue;
    if (refused++ == 0) first = job.refusal;
  }
  if (refused > 1) first += fmt::format(" (and {} more)", refused - 1);
  if (refused > 0) throw TransportError(first);
  return 0;
}

template <typename Value>
std::vector<std::string> words_of(const std::map<std::string, Value>& words) {
  std::vector<std::string> list;
  for (const auto& [text, value] : words) list.push_back(text);
  return list;
}

}  // namespace

void add_transport(CLI::App& root, Action& action) {
  CLI::App* transport = root.add_subcommand("transport", "Say which network NCCL really used between hosts");
  transport->require_subcommand(0, 1);
  transport->footer("`lockstep transport COMMAND --help` says more. How it decides: docs/transport.md.");

  CLI::App* command =
      transport->add_subcommand("check", "Read logs of any job that uses NCCL, and give the verdict");
  auto arguments = std::make_shared<CheckArguments>();
  command
      ->add_option("LOG", arguments->logs,
                   "A log, a folder with the logs of a job's ranks, or - for standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--require", arguments->require, "What it must be: any (but known), efa, ib or roce [any]")
      ->check(CLI::IsMember(words_of(transport::requirements())))
      ->type_name("NETWORK");
  command
      ->add_option("--level", arguments->level,
                   "How far the evidence must go: selected or connected [selected]")
      ->check(CLI::IsMember(words_of(levels())))
      ->type_name("LEVEL");
  command->add_option("--format", arguments->format, "table, json or tsv [table]")
      ->check(CLI::IsMember(words_of(formats())))
      ->type_name("FORMAT");
  command->footer(
      "Takes what NCCL prints with NCCL_DEBUG=INFO, versions 2.18 to 2.30, in any arrangement: a file for "
      "each\n"
      "rank, one stream for all, lines of Ray, kubectl, mpirun or torchrun. Logs that hold different ranks "
      "of\n"
      "one communicator are one job.\n\n"
      "Exit code 0 when all jobs are as required, 5 when one is not or is unknown, 2 for a log that is not "
      "there.\n\n"
      "Examples:\n"
      "  lockstep transport check run.log\n"
      "  lockstep transport check --require efa logs/                    a folder: one job\n"
      "  kubectl logs -l job=train --prefix --tail=-1 | lockstep transport check --require efa -\n"
      "  lockstep transport check --format tsv *.log");
  command->callback([=, &action] { action = [=] { return check(*arguments); }; });
}

}  // namespace lockstep::cli
