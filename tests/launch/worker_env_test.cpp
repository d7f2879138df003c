#include "lockstep/launch/worker_env.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;

class WorkerEnvTest : public testing::Test {
 protected:
  WorkerEnvTest() { clear(); }
  ~WorkerEnvTest() override { clear(); }

  static void clear() {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                             "MASTER_PORT", "LOCKSTEP_ROLE", "LOCKSTEP_RUN_DIR", "LOCKSTEP_GENERATION",
                             "LOCKSTEP_EVENT_FD", "LOCKSTEP_STORE_FD", "LOCKSTEP_PYTHON_PACKAGES"}) {
      ::unsetenv(name);
    }
  }
  static void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static std::string refusal() {
    try {
      WorkerEnv::from_environment();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::map<std::string, std::string> torchrun_ = {{"RANK", "5"},
                                                        {"WORLD_SIZE", "8"},
                                                        {"LOCAL_RANK", "1"},
                                                        {"LOCAL_WORLD_SIZE", "4"},
                                                        {"MASTER_ADDR", "10.0.0.7"},
                                                        {"MASTER_PORT", "29500"}};
};

TEST_F(WorkerEnvTest, WithoutVariablesThisIsNoWorker) { EXPECT_FALSE(WorkerEnv::from_environment()); }

TEST_F(WorkerEnvTest, TorchrunsSixVariablesMakeAWorker) {
  set(torchrun_);
  const auto env = WorkerEnv::from_environment();
  ASSERT_TRUE(env);
  EXPECT_EQ(env->rank, 5);
  EXPECT_EQ(env->world_size, 8);
  EXPECT_EQ(env->local_rank, 1);
  EXPECT_EQ(env->local_world_size, 4);
  EXPECT_EQ(env->master_addr, "10.0.0.7");
  EXPECT_EQ(env->master_port, 29500);
  EXPECT_EQ(env->run_dir, "");
  EXPECT_EQ(env->generation, 1);
  EXPECT_FALSE(env->event_fd);
  EXPECT_FALSE(env->store_fd);
}

TEST_F(WorkerEnvTest, SomeOfTheSixAreSomeoneElses) {
  set({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_FALSE(WorkerEnv::from_environment());
}

TEST_F(WorkerEnvTest, TheRoleAloneAsksForTheRest) {
  set({{"LOCKSTEP_ROLE", "worker"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_THAT(refusal(), HasSubstr("LOCAL_WORLD_SIZE is not set"));
}

TEST_F(WorkerEnvTest, WhatTheLauncherWritesTheWorkerReads) {
  WorkerEnv told;
  told.rank = 2;
  told.world_size = told.local_world_size = 3;
  told.local_rank = 2;
  told.master_port = 4242;
  told.run_dir = "runs/a b";
  told.generation = 7;
  told.event_fd = 3;
  told.store_fd = 4;
  told.python_packages = {{"numpy", "2.1.0"}};
  set(told.to_environment());
  const auto read = WorkerEnv::from_environment();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_environment(), told.to_environment());
  EXPECT_EQ(read->run_dir, "runs/a b");
  EXPECT_EQ(read->generation, 7);
  EXPECT_EQ(read->python_packages.at("numpy"), "2.1.0");
}

TEST_F(WorkerEnvTest, AValueOutOfPlaceIsNamed) {
  const std::pair<const char*, const char*> bad[] = {{"RANK", "8"},
                                                     {"RANK", "-1"},
                                                     {"RANK", "one"},
                                                     {"RANK", "1x"},
                                                     {"RANK", ""},
                                                     {"WORLD_SIZE", "0"},
                                                     {"LOCAL_WORLD_SIZE", "9"},
                                                     {"LOCAL_RANK", "4"},
                                                     {"MASTER_PORT", "65536"},
                                                     {"MASTER_ADDR", ""},
                                                     {"LOCKSTEP_GENERATION", "0"},
                                                     {"LOCKSTEP_EVENT_FD", "three"},
                                                     {"LOCKSTEP_PYTHON_PACKAGES", "numpy"},
                                                     {"LOCKSTEP_PYTHON_PACKAGES", "[1]"}};
  for (const auto& [name, value] : bad) {
    clear();
    set(torchrun_);
    ::setenv(name, value, 1);
    EXPECT_THAT(refusal(), HasSubstr(name)) << name << "=" << value;
  }
}

}  // namespace
}  // namespace lockstep::launch
