// Workers that something else than our launcher started: torchrun's six variables are all they have.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lockstep/base/file_descriptor.h"
#include "tests/train/tiny_run.h"

namespace lockstep::train {
namespace {

using testing::TinyRun;

// Free when asked; torchrun, too, only looks.
uint16_t free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

TEST(TorchrunEnvironment, TwoWorkersMeetAndRankZeroMakesTheRun) {
  TinyRun run;
  const std::string port = std::to_string(free_port());
  std::vector<Process> workers;
  for (const std::string rank : {"0", "1"}) {
    ProcessOptions options = run.options({"train.steps=2"});
    options.environment = {{"RANK", rank},
                           {"WORLD_SIZE", "2"},
                           {"LOCAL_RANK", rank},
                           {"LOCAL_WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "127.0.0.1"},
                           {"MASTER_PORT", port}};
    workers.push_back(Process::start(options));
  }
  for (Process& worker : workers) EXPECT_TRUE(worker.wait().success()) << run.err();
  EXPECT_EQ(run.metrics().size(), 2);
  EXPECT_EQ(run.finished()["steps"], 2);
  EXPECT_TRUE(std::filesystem::exists(run.dir() + "/recipe.yaml"));
}

}  // namespace
}  // namespace lockstep::train
