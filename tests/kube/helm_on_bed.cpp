#include "helm_on_bed.h"

#include <fmt/format.h>
#include <httplib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/base/check.h"
#include "tests/paths.h"

namespace lockstep::kube {
namespace {

namespace fs = std::filesystem;
using cluster::Command;
using cluster::CommandResult;
using cluster::manifest::HelmRelease;

constexpr std::string_view kHttps = "https://";

}  // namespace

struct HelmOnBed::Http {
  httplib::Server server;
  std::thread thread;
};

HelmOnBed::HelmOnBed(KubeBed& bed)
    : EksOnBed(bed), kubeconfig_(bed.kubeconfig()), http_(std::make_unique<Http>()) {
  fs::create_directory(folder_ / "served");
  LOCKSTEP_CHECK(http_->server.set_mount_point("/", folder_ / "served")) << "no folder to serve";
  address_ = fmt::format("http://127.0.0.1:{}/", http_->server.bind_to_any_port("127.0.0.1"));
  http_->thread = std::thread([this] { http_->server.listen_after_bind(); });
}

HelmOnBed::~HelmOnBed() {
  http_->server.stop();
  http_->thread.join();
}

CommandResult HelmOnBed::run(const Command& command) {
  if (command.argv[0] != "helm") return EksOnBed::run(command);
  Command real = command;
  real.argv[0] = LOCKSTEP_EKS_TOOLS "/helm";
  for (std::string& word : real.argv) {
    if (word.starts_with(kHttps)) word.replace(0, kHttps.size(), address_);
  }
  for (const char* kind : {"CACHE", "CONFIG", "DATA"})
    real.env[fmt::format("HELM_{}_HOME", kind)] = folder_ / "helm";
  cluster::ProcessRunner runner;
  return runner.run(real);
}

std::string HelmOnBed::helm(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "helm");
  return run_or_throw(*this, {.argv = std::move(arguments), .env = {{"KUBECONFIG", kubeconfig_}}});
}

void HelmOnBed::publish(const HelmRelease& release, const std::string& kind) {
  const std::string chart = folder_ / "charts/" + release.chart;
  const std::string repository = folder_ / "served/" + release.repository.substr(kHttps.size());
  fs::create_directories(chart);
  fs::create_directories(repository);
  fs::copy(source_path("tests/kube/charts/" + kind), chart,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  if (kind == "operator") fs::copy(LOCKSTEP_KUBE_TOOLS "/crds", chart + "/crds", fs::copy_options::recursive);
  std::ofstream(chart + "/Chart.yaml")
      << fmt::format("apiVersion: v2\nname: {}\nversion: \"{}\"\n", release.chart, release.version);
  helm({"package", chart, "--destination", repository});
  helm({"repo", "index", repository});
}

}  // namespace lockstep::kube
