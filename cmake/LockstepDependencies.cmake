# Finds what Lockstep builds on. Debian packages come from the system; pinned
# wheels (libtorch, nvcc, NCCL's headers) from LOCKSTEP_SITE, the site-packages
# that scripts/setup filled.
set(LOCKSTEP_SITE "$ENV{HOME}/.cache/lockstep/venv/lib/python3.11/site-packages"
    CACHE PATH "site-packages folder that holds the pinned wheels")

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOCKSTEP_CCACHE})
endif()
find_program(LOCKSTEP_MOLD mold)
if(LOCKSTEP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(LOCKSTEP_TORCH)
  set(LOCKSTEP_TORCH_ROOT "${LOCKSTEP_SITE}/torch" CACHE PATH "libtorch: a folder with include/ and lib/")
  if(NOT EXISTS "${LOCKSTEP_TORCH_ROOT}/include/ATen/ATen.h")
    message(FATAL_ERROR "No libtorch in ${LOCKSTEP_TORCH_ROOT}: run scripts/setup, or set LOCKSTEP_TORCH_ROOT")
  endif()
  # libtorch_cpu and libc10 alone: libtorch would pull in every CUDA library.
  add_library(torch_cpu SHARED IMPORTED)
  set_target_properties(torch_cpu PROPERTIES
    IMPORTED_LOCATION "${LOCKSTEP_TORCH_ROOT}/lib/libtorch_cpu.so")
  target_include_directories(torch_cpu SYSTEM INTERFACE
    "${LOCKSTEP_TORCH_ROOT}/include" "${LOCKSTEP_TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_libraries(torch_cpu INTERFACE "${LOCKSTEP_TORCH_ROOT}/lib/libc10.so")
  # libtorch_cpu itself asks for libcudart and libcupti, which the program finds by its run path.
  target_link_options(torch_cpu INTERFACE -Wl,--allow-shlib-undefined)
  set(LOCKSTEP_RPATH "${LOCKSTEP_TORCH_ROOT}/lib;${LOCKSTEP_SITE}/nvidia/cu13/lib")
endif()
