#include "lockstep/cluster/ray_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "lockstep/base/split.h"
#include "lockstep/cluster/ray_version.h"

namespace lockstep::cluster {
namespace {

using std::chrono::seconds;

// Of a traceback, what it is about: the last line that says something.
std::string last_words(const std::string& body) {
  constexpr size_t kLongest = 300;
  std::string words;
  for (const std::string& line : split(body, '\n')) {
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c); })) words = line;
  }
  return words.size() > kLongest ? words.substr(0, kLongest) + "..." : words;
}

std::string call(const HttpRequest& request) { return request.method + " " + request.path; }

// Reads what Ray answered; an answer of another shape is Ray's fault, not ours.
template <typename Read>
auto understood(const std::string& address, const HttpRequest& request, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw CommandError(fmt::format("ray: {} answered {} in a shape that is not Ray {}'s: {}", address,
                                   call(request), kTestedRay, error.what()));
  }
}

}  // namespace

RayClient::RayClient(std::string address, std::optional<RayToken> token)
    : address_(std::move(address)), token_(std::move(token)), http_("ray", address_) {}

std::string RayClient::jobs_command(const std::string& words) const {
  return fmt::format("lockstep jobs {} --ray-address {}", words, address_);
}

HttpAnswer RayClient::ask(HttpRequest request) {
  if (token_) request.headers["Authorization"] = "Bearer " + token_->value;
  HttpAnswer answer = http_.send(request);
  if (answer.status == 401 || (answer.status == 403 && !token_)) {
    throw ConfigError(fmt::format(
        "ray: {} asks for a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH, "
        "to the cluster's",
        address_));
  }
  if (answer.status == 403) {
    throw ConfigError(
        fmt::format("ray: {} refused the token from {}: it is not this cluster's", address_, token_->source));
  }
  return answer;
}

Json RayClient::json_of(const HttpRequest& request, const HttpAnswer& answer) {
  if (answer.status != 200) {
    throw CommandError(fmt::format("ray: {} answered {} with status {}: {}", address_, call(request),
                                   answer.status, last_words(answer.body)));
  }
  return understood(address_, request, [&] { return Json::parse(answer.body); });
}

std::string RayClient::version() {
  const HttpRequest request{.method = "GET", .path = "/api/version"};
  const HttpAnswer answer = ask(request);
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (answer.status != 200 || !json.is_object() || !json.value("ray_version", Json()).is_string()) {
    throw ConfigError(fmt::format(
        "ray: what answers at {} is no Ray dashboard (GET /api/version: status {}): give the head's address, "
        "--ray-address http://HOST:8265",
        address_, answer.status));
  }
  return json.at("ray_version").get<std::string>();
}

std::vector<RayNode> RayClient::nodes() {
  // Ray lists 100 unless told otherwise, and at most 10000.
  const HttpRequest request{.method = "GET", .path = "/api/v0/nodes?limit=10000"};
  const Json json = json_of(request, ask(request));
  return understood(address_, request, [&] { return ray_nodes_from(json); });
}

bool RayClient::has_package(const std::string& name) {
  const HttpRequest request{.method = "GET", .path = "/api/packages/gcs/" + name};
  const HttpAnswer answer = ask(request);
  if (answer.status == 404) return false;
  if (answer.status != 200) json_of(request, answer);  // throws
  return true;
}

void RayClient::upload_package(const std::string& name, const std::string& bytes) {
  const HttpRequest request{.method = "PUT",
                            .path = "/api/packages/gcs/" + name,
                            .body = bytes,
                            .content_type = "application/octet-stream",
                            .timeout = seconds(120)};
  const HttpAnswer answer = ask(request);
  if (answer.status != 200) json_of(request, answer);  // throws
}

void RayClient::submit(const JobRequest& job) {
  const Json body = {{"entrypoint", job.entrypoint},
                     {"submission_id", job.id},
                     {"runtime_env", job.runtime_env},
                     {"metadata", job.metadata}};
  // Ray waits up to ten seconds for an agent that can take the job.
  const HttpRequest request{
      .method = "POST", .path = "/api/jobs/", .body = body.dump(), .timeout = seconds(30)};
  const HttpAnswer answer = [&] {
    try {
      return ask(request);
    } catch (const NoAnswerError& error) {
      throw NoAnswerError(fmt::format("{}; whether it was submitted all the same, {} tells", error.what(),
                                      jobs_command("status " + job.id)));
    }
  }();
  if (answer.status != 200 && answer.body.find("already exists") != answer.body.npos) {
    throw ConfigError(
        fmt::format("ray: {} has a job {} already: give another --submission-id", address_, job.id));
  }
  json_of(request, answer);
}

HttpAnswer RayClient::ask_about_job(const std::string& id, HttpRequest request) {
  check_job_id(id);
  HttpAnswer answer = ask(request);
  if (answer.status == 404) {
    throw ConfigError(fmt::format("ray: {} knows no job {} ({} shows those that it knows)", address_, id,
                                  jobs_command("list")));
  }
  return answer;
}

RayJob RayClient::job(const std::string& id) {
  const HttpRequest request{.method = "GET", .path = "/api/jobs/" + id};
  const Json json = json_of(request, ask_about_job(id, request));
  return understood(address_, request, [&] { return ray_job_from(json); });
}

std::vector<RayJob> RayClient::jobs() {
  const HttpRequest request{.method = "GET", .path = "/api/jobs/"};
  const Json json = json_of(request, ask(request));
  return understood(address_, request, [&] {
    std::vector<RayJob> jobs;
    for (const Json& entry : json) {
      if (entry.at("type") == "SUBMISSION") jobs.push_back(ray_job_from(entry));
    }
    return jobs;
  });
}

std::string RayClient::logs(const std::string& id) {
  const HttpRequest request{.method = "GET", .path = "/api/jobs/" + id + "/logs", .timeout = seconds(30)};
  const Json json = json_of(request, ask_about_job(id, request));
  return understood(address_, request, [&] { return json.at("logs").get<std::string>(); });
}

void RayClient::stop(const std::string& id) {
  const HttpRequest request{.method = "POST", .path = "/api/jobs/" + id + "/stop"};
  json_of(request, ask_about_job(id, request));
}

void check_job_id(const std::string& id) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (!id.empty() && std::all_of(id.begin(), id.end(), is_plain) &&
      std::isalnum(static_cast<unsigned char>(id[0])))
    return;
  throw ConfigError(fmt::format(
      "ray: \"{}\" is no job's id: letters and digits, with \".\", \"_\" and \"-\" between them", id));
}

}  // namespace lockstep::cluster
