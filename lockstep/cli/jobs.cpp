// lockstep jobs list | status ID | logs ID [-f] | stop ID
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "lockstep/cli/attend_job.h"
#include "lockstep/cli/commands.h"
#include "lockstep/cli/ray_options.h"
#include "lockstep/launch/stop_signals.h"

namespace lockstep::cli {
namespace {

struct JobArguments {
  std::string address, id;
  bool json = false, follow = false, no_wait = false;
};

int exit_code_of(const cluster::RayJob& job) { return job.is_over() ? job.exit_code() : 0; }

int list(const JobArguments& arguments) {
  const auto jobs = ray_client(arguments.address).jobs();
  if (!arguments.json) {
    std::cout << (jobs.empty() ? "no jobs\n" : to_table(jobs));
    return 0;
  }
  Json rows = Json::array();
  for (const cluster::RayJob& job : jobs) rows.push_back(job.to_json());
  std::cout << rows.dump(2) << '\n';
  return 0;
}

int status(const JobArguments& arguments) {
  const cluster::RayJob job = ray_client(arguments.address).job(arguments.id);
  std::cout << (arguments.json ? job.to_json().dump(2) : job.outcome()) << '\n';
  return exit_code_of(job);
}

int logs(const JobArguments& arguments) {
  cluster::RayClient client = ray_client(arguments.address);
  if (arguments.follow) return attend_job(client, arguments.id, std::cout);
  std::cout << client.logs(arguments.id);
  return 0;
}

int stop(const JobArguments& arguments) {
  cluster::RayClient client = ray_client(arguments.address);
  cluster::RayJob job = client.job(arguments.id);
  if (!job.is_over()) client.stop(arguments.id);
  while (!arguments.no_wait && !job.is_over()) {
    if (const auto signal = launch::wait_for_stop_signal(std::chrono::milliseconds(500)))
      return 128 + *signal;
    job = client.job(arguments.id);
  }
  std::cout << (arguments.json ? job.to_json().dump(2) : job.outcome()) << '\n';
  return 0;
}

CLI::App* add(CLI::App& parent, Action& action, const std::shared_ptr<JobArguments>& arguments,
              const char* name, const char* about, int (*run)(const JobArguments&)) {
  CLI::App* command = parent.add_subcommand(name, about);
  add_ray_address(*command, arguments->address);
  command->callback([=, &action] { action = [=] { return run(*arguments); }; });
  return command;
}

void add_id(CLI::App& command, JobArguments& arguments) {
  command.add_option("ID", arguments.id, "The job's id, as submit and list print it")->required();
}

void add_json(CLI::App& command, JobArguments& arguments) {
  command.add_flag("--json", arguments.json, "As JSON instead of lines for people");
}

}  // namespace

void add_jobs(CLI::App& root, Action& action) {
  CLI::App* jobs = root.add_subcommand("jobs", "List a Ray cluster's jobs, follow one, or stop it");
  jobs->require_subcommand(0, 1);
  jobs->footer("`lockstep jobs COMMAND --help` says more.");
  auto arguments = std::make_shared<JobArguments>();

  CLI::App* list_command =
      add(*jobs, action, arguments, "list", "Every job that was submitted, oldest first", list);
  add_json(*list_command, *arguments);

  CLI::App* status_command = add(*jobs, action, arguments, "status", "How a job is, or how it ended", status);
  add_id(*status_command, *arguments);
  add_json(*status_command, *arguments);
  status_command->footer("Exit code: the job's when it is over, else 0.");

  CLI::App* logs_command = add(*jobs, action, arguments, "logs", "What a job has printed", logs);
  add_id(*logs_command, *arguments);
  logs_command->add_flag("-f,--follow", arguments->follow,
                         "Go on until the job is over; its exit code is ours");
  logs_command->footer(
      "Each rank's own log is in the run's folder. Ctrl-C while following leaves the job running; a second\n"
      "one stops it.");

  CLI::App* stop_command = add(*jobs, action, arguments, "stop", "Stop a job, with a checkpoint first", stop);
  add_id(*stop_command, *arguments);
  add_json(*stop_command, *arguments);
  stop_command->add_flag("--no-wait", arguments->no_wait, "Do not wait until it has stopped");
  stop_command->footer("The same submission with another id continues the run from that checkpoint.");
}

}  // namespace lockstep::cli
