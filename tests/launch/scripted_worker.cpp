// A worker that does what its arguments say, in order. Each is RANKS:COMMAND or
// RANKS:COMMAND=VALUE with RANKS one rank or `*`; others skip it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

std::string env(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "(unset)";
}

[[noreturn]] void wait_forever() {
  for (;;) ::pause();
}

int exit_code_on_signal = 0;

// Asks the store's socket for a connection and takes it from the inherited end.
void talk_to_store() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(env("MASTER_PORT"))));
  ::inet_pton(AF_INET, env("MASTER_ADDR").c_str(), &address.sin_addr);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  const bool connected = ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  const bool accepted = connected && ::accept(std::stoi(env("LOCKSTEP_STORE_FD")), nullptr, nullptr) >= 0;
  std::printf("store %s\n", accepted ? "answers" : "is silent");
}

const std::map<std::string, std::function<void(const std::string&)>> kCommands = {
    {"print", [](const std::string& text) { std::printf("%s\n", text.c_str()); }},
    {"env", [](const std::string& name) { std::printf("%s=%s\n", name.c_str(), env(name).c_str()); }},
    {"event",
     [](const std::string& line) { ::dprintf(std::stoi(env("LOCKSTEP_EVENT_FD")), "%s\n", line.c_str()); }},
    {"exit", [](const std::string& code) { std::exit(std::stoi(code)); }},
    {"kill", [](const std::string& signal) { ::raise(std::stoi(signal)); }},
    {"ignore", [](const std::string& number) { ::signal(std::stoi(number), SIG_IGN); }},
    // on=15,12: ends with exit code 12 on signal 15
    {"on",
     [](const std::string& value) {
       exit_code_on_signal = std::stoi(value.substr(value.find(',') + 1));
       ::signal(std::stoi(value), [](int) { ::_exit(exit_code_on_signal); });
     }},
    {"sleep_ms", [](const std::string& ms) { ::usleep(std::stoul(ms) * 1000); }},
    {"wait", [](const std::string&) { wait_forever(); }},
    // A child of its own that outlives it unless someone ends it.
    {"spawn",
     [](const std::string&) {
       const pid_t child = ::fork();
       if (child == 0) wait_forever();
       std::printf("child %d\n", child);
     }},
    {"store", [](const std::string&) { talk_to_store(); }},
    {"fds",  // is anything open that was not passed on?
     [](const std::string&) {
       for (int fd = 3; fd < 100; ++fd) {
         if (::lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF) std::printf("open %d\n", fd);
       }
     }},
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("pid %d\n", ::getpid());
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t colon = argument.find(':'), equals = argument.find('=');
    if (argument.substr(0, colon) != "*" && argument.substr(0, colon) != env("RANK")) continue;
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    kCommands.at(argument.substr(colon + 1, equals == std::string::npos ? equals : equals - colon - 1))(
        value);
  }
}
