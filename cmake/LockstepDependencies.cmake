# Finds what Lockstep builds on. Debian packages come from the system; pinned
# wheels (libtorch, nvcc, NCCL's headers) from LOCKSTEP_SITE, the site-packages
# that scripts/setup filled.
if(DEFINED ENV{LOCKSTEP_CACHE})
  set(cache "$ENV{LOCKSTEP_CACHE}")
else()
  set(cache "$ENV{HOME}/.cache/lockstep")
endif()
set(LOCKSTEP_SITE "${cache}/venv/lib/python3.11/site-packages"
    CACHE PATH "site-packages folder that holds the pinned wheels")

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
# For lockstep/cluster alone: the client of Ray's REST API, and the packages that it uploads.
find_package(PkgConfig REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)

# What the folders are compiled against; the installed headers need only the first two.
add_library(lockstep_dependencies INTERFACE)
target_link_libraries(lockstep_dependencies INTERFACE
  nlohmann_json::nlohmann_json fmt::fmt spdlog::spdlog yaml-cpp CLI11::CLI11 OpenSSL::Crypto Threads::Threads)

# libtorch's include folder carries another release of fmt's headers than the library that
# is linked; this folder stands before it.
get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
set(LOCKSTEP_FMT_FIRST "${PROJECT_BINARY_DIR}/fmt-first")
file(MAKE_DIRECTORY "${LOCKSTEP_FMT_FIRST}")
file(CREATE_LINK "${fmt_include}/fmt" "${LOCKSTEP_FMT_FIRST}/fmt" SYMBOLIC)

if(LOCKSTEP_TORCH)
  set(LOCKSTEP_TORCH_ROOT "${LOCKSTEP_SITE}/torch" CACHE PATH "libtorch: a folder with include/ and lib/")
  include(LockstepTorch)
  add_library(torch_cpu ALIAS Lockstep::torch_cpu)
  set(LOCKSTEP_RPATH "${LOCKSTEP_TORCH_ROOT}/lib")
endif()
