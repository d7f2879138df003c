// A small HTTP server on loopback that answers as a Ray 2.58 dashboard does, for what a real cluster cannot
// be made to do at will: losing the connection, refusing, failing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/base/json.h"

namespace lockstep::cluster {

struct FakeRay {
  std::string version = "2.58.0";
  std::string token;                            // asked for unless empty
  Json nodes = Json::array();                   // as node_json() makes them
  std::map<std::string, std::string> packages;  // name -> bytes
  std::map<std::string, Json> jobs;             // id -> JobDetails
  std::map<std::string, std::string> logs;      // id -> all of it
  int failing_status = 0;                       // answered to everything when not 0, with failing_body
  std::string failing_body;
  std::vector<std::string> requests;  // "PUT /api/packages/gcs/x.zip"
  std::vector<Json> submissions;      // bodies of POST /api/jobs/
};

Json node_json(const std::string& name, const std::string& ip, bool is_head, const Json& resources,
               bool is_alive = true);
Json job_json(const std::string& id, const std::string& status, const Json& driver_exit_code = nullptr);

class RayServer {
 public:
  explicit RayServer(int port = 0);  // 0: any that is free
  ~RayServer();

  std::string address() const;
  int port() const { return port_; }
  // Looks at what the server knows, or changes it, between two requests.
  void with(const std::function<void(FakeRay&)>& look);

 private:
  struct Http;
  int port_ = 0;
  std::mutex mutex_;
  FakeRay ray_;  // GUARDED_BY(mutex_): the server's threads answer from it
  std::unique_ptr<Http> http_;
};

}  // namespace lockstep::cluster
