// The commands of `lockstep`, each in a file of its own. `add_X` adds one to the tree with its
// arguments and help; when the command line names it, `action` becomes what it does.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace lockstep::cli {

using Action = std::function<int()>;  // returns the exit code

void add_train(CLI::App& root, Action& action);
void add_submit(CLI::App& root, Action& action);
void add_jobs(CLI::App& root, Action& action);
void add_cluster(CLI::App& root, Action& action);
void add_begin(CLI::App& root, Action& action);
void add_show_events(CLI::App& root, Action& action);
void add_checkpoints(CLI::App& root, Action& action);
void add_replay(CLI::App& root, Action& action);
void add_recipe(CLI::App& root, Action& action);
void add_transport(CLI::App& root, Action& action);
void add_doctor(CLI::App& root, Action& action);
void add_image(CLI::App& root, Action& action);
void add_bench(CLI::App& root, Action& action);
void add_bench_transport(CLI::App& bench, Action& action);
void add_version(CLI::App& root, Action& action);
void add_completion(CLI::App& root, Action& action);  // after all others: it completes those

}  // namespace lockstep::cli
