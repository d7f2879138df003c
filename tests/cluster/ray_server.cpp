#include "tests/cluster/ray_server.h"

#include <httplib.h>

#include <thread>
#include <utility>

#include "lockstep/base/check.h"

namespace lockstep::cluster {

struct RayServer::Http {
  httplib::Server server;
  std::thread thread;
};

Json node_json(const std::string& name, const std::string& ip, bool is_head, const Json& resources,
               bool is_alive) {
  return {{"node_id", "93a1" + name},     {"node_ip", ip},
          {"is_head_node", is_head},      {"state", is_alive ? "ALIVE" : "DEAD"},
          {"state_message", nullptr},     {"node_name", name},
          {"resources_total", resources}, {"labels", Json::object()},
          {"start_time_ms", nullptr},     {"end_time_ms", nullptr}};
}

Json job_json(const std::string& id, const std::string& status, const Json& driver_exit_code) {
  return {{"type", "SUBMISSION"},
          {"job_id", nullptr},
          {"submission_id", id},
          {"driver_info", nullptr},
          {"status", status},
          {"entrypoint", "python -m lockstep_ray job.json"},
          {"message", "Job is " + status},
          {"error_type", nullptr},
          {"start_time", 1767323045678},
          {"end_time", status == "RUNNING" || status == "PENDING" ? Json() : Json(1767323055678)},
          {"metadata", {{"run_dir", "/fsx/runs/x"}}},
          {"runtime_env", Json::object()},
          {"driver_exit_code", driver_exit_code}};
}

namespace {

void answer(httplib::Response& response, const Json& json) {
  response.set_content(json.dump(), "application/json");
}

void no_job(const std::string& id, httplib::Response& response) {
  response.status = 404;
  response.set_content("Job " + id + " does not exist", "text/plain");
}

// What stands before every route: the token, and failing at will.
bool is_refused(FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
  const std::string shown = request.get_header_value("Authorization");
  if (!ray.token.empty() && shown != "Bearer " + ray.token) {
    response.status = shown.empty() ? 401 : 403;
    response.set_content(shown.empty() ? "Unauthorized: Missing authentication token"
                                       : "Forbidden: Invalid authentication token",
                         "text/plain");
    return true;
  }
  if (ray.failing_status == 0) return false;
  response.status = ray.failing_status;
  response.set_content(ray.failing_body, "text/plain");
  return true;
}

using Handler = std::function<void(FakeRay&, const httplib::Request&, httplib::Response&)>;
using Guard = std::function<httplib::Server::Handler(Handler)>;

void add_routes(httplib::Server& server, const Guard& guarded) {
  server.Get(
      "/api/version", guarded([](FakeRay& ray, const httplib::Request&, httplib::Response& response) {
        answer(response,
               {{"version", "4"}, {"ray_version", ray.version}, {"ray_commit", "0"}, {"session_name", "s"}});
      }));
  server.Get("/api/v0/nodes", guarded([](FakeRay& ray, const httplib::Request&, httplib::Response& response) {
               const Json listed = {
                   {"total", ray.nodes.size()}, {"num_filtered", ray.nodes.size()}, {"result", ray.nodes}};
               answer(response, {{"result", true}, {"msg", ""}, {"data", {{"result", listed}}}});
             }));
  server.Get(R"(/api/packages/gcs/(.+))",
             guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
               if (!ray.packages.contains(request.matches[1])) response.status = 404;
             }));
  server.Put(R"(/api/packages/gcs/(.+))",
             guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response&) {
               ray.packages[request.matches[1]] = request.body;
             }));
  server.Post(
      "/api/jobs/", guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
        const Json body = Json::parse(request.body);
        const std::string id = body.at("submission_id");
        if (ray.jobs.contains(id)) {
          response.status = 500;
          response.set_content(
              "Traceback (most recent call last):\n  File \"x.py\", line 1, in x\nValueError: Job with "
              "submission_id " +
                  id + " already exists. Please use a different submission_id.\n.",
              "text/plain");
          return;
        }
        ray.submissions.push_back(body);
        ray.jobs[id] = job_json(id, "SUCCEEDED", 0);
        answer(response, {{"job_id", id}, {"submission_id", id}});
      }));
  server.Get("/api/jobs/", guarded([](FakeRay& ray, const httplib::Request&, httplib::Response& response) {
               Json all = Json::array({{{"type", "DRIVER"},
                                        {"job_id", "01000000"},
                                        {"submission_id", nullptr},
                                        {"status", "RUNNING"},
                                        {"entrypoint", ""}}});
               for (const auto& [id, job] : ray.jobs) all.push_back(job);
               answer(response, all);
             }));
  server.Get(R"(/api/jobs/([^/]+))",
             guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
               const std::string id = request.matches[1];
               if (!ray.jobs.contains(id)) return no_job(id, response);
               answer(response, ray.jobs[id]);
             }));
  server.Get(R"(/api/jobs/([^/]+)/logs)",
             guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
               const std::string id = request.matches[1];
               if (!ray.jobs.contains(id)) return no_job(id, response);
               answer(response, {{"logs", ray.logs[id]}});
             }));
  server.Post(R"(/api/jobs/([^/]+)/stop)",
              guarded([](FakeRay& ray, const httplib::Request& request, httplib::Response& response) {
                const std::string id = request.matches[1];
                if (!ray.jobs.contains(id)) return no_job(id, response);
                ray.jobs[id] = job_json(id, "STOPPED");
                answer(response, {{"stopped", true}});
              }));
}

}  // namespace

RayServer::RayServer(int port) : http_(std::make_unique<Http>()) {
  httplib::Server& server = http_->server;
  add_routes(server, [this](const Handler& handler) {
    return [this, handler](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      ray_.requests.push_back(request.method + " " + request.path);
      if (!is_refused(ray_, request, response)) handler(ray_, request, response);
    };
  });
  if (port == 0) {
    port_ = server.bind_to_any_port("127.0.0.1");
  } else {
    port_ = server.bind_to_port("127.0.0.1", port) ? port : 0;
  }
  LOCKSTEP_CHECK(port_ > 0) << "no port";
  http_->thread = std::thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
}

RayServer::~RayServer() {
  http_->server.stop();
  http_->thread.join();
}

std::string RayServer::address() const { return "http://127.0.0.1:" + std::to_string(port_); }

void RayServer::with(const std::function<void(FakeRay&)>& look) {
  const std::lock_guard lock(mutex_);
  look(ray_);
}

}  // namespace lockstep::cluster
