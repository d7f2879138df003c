#include "tests/storage/object_server.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "lockstep/base/check.h"
#include "tests/paths.h"

namespace lockstep::storage {

bool ObjectServer::is_installed() { return std::filesystem::exists(LOCKSTEP_OBJECT_SERVER_PYTHON); }

ObjectServer::ObjectServer(const std::string& script, const std::vector<std::string>& options, int port) {
  ProcessOptions process;
  process.argv = {
      LOCKSTEP_OBJECT_SERVER_PYTHON, source_path("tests/storage/" + script), "--bucket", "bucket", "--port",
      std::to_string(port)};
  process.argv.insert(process.argv.end(), options.begin(), options.end());
  process.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  process.standard_output = Output::file(folder_ / "output");
  process_ = Process::start(process);
  while (port_ == 0) {
    LOCKSTEP_CHECK(!process_->poll()) << script << " ended at once";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string text = output();
    if (text.starts_with("port ") && text.find('\n') != text.npos) port_ = std::stoi(text.substr(5));
  }
}

std::string ObjectServer::output() const { return read_file(folder_ / "output"); }

}  // namespace lockstep::storage
