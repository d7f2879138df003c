// The `lockstep` program: command line, driver and worker in one executable.
#include "lockstep/cli/app.h"
#include "lockstep/launch/report_errors.h"

int main(int argc, char** argv) {
  return lockstep::launch::report_errors([&] { return lockstep::cli::run(argc, argv); });
}
