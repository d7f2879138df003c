# libtorch as the imported target Lockstep::torch_cpu, from LOCKSTEP_TORCH_ROOT. Used by the build
# and, installed beside LockstepConfig.cmake, by what is built on Lockstep. Sets LOCKSTEP_TORCH_VERSION.
#
# libtorch_cpu and libc10 alone: torch's own CMake package links every CUDA library as well.
if(NOT EXISTS "${LOCKSTEP_TORCH_ROOT}/include/ATen/ATen.h")
  message(FATAL_ERROR "No libtorch in LOCKSTEP_TORCH_ROOT=${LOCKSTEP_TORCH_ROOT}: run scripts/setup, or set it to "
                      "a folder with torch's include/ and lib/")
endif()

file(STRINGS "${LOCKSTEP_TORCH_ROOT}/include/torch/headeronly/version.h" version_lines
     REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
string(REGEX REPLACE "[^0-9;]" "" LOCKSTEP_TORCH_VERSION "${version_lines}")
list(JOIN LOCKSTEP_TORCH_VERSION "." LOCKSTEP_TORCH_VERSION)

if(NOT TARGET Lockstep::torch_cpu)
  add_library(Lockstep::torch_cpu SHARED IMPORTED GLOBAL)
  set_target_properties(Lockstep::torch_cpu PROPERTIES IMPORTED_LOCATION "${LOCKSTEP_TORCH_ROOT}/lib/libtorch_cpu.so")
  # libtorch's include folder carries another release of fmt's headers than the library that is linked,
  # so a folder with the right ones stands before it.
  find_package(fmt REQUIRED)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  set(fmt_first "${PROJECT_BINARY_DIR}/fmt-first")
  file(MAKE_DIRECTORY "${fmt_first}")
  file(CREATE_LINK "${fmt_include}/fmt" "${fmt_first}/fmt" SYMBOLIC)
  target_include_directories(Lockstep::torch_cpu SYSTEM INTERFACE
    "${fmt_first}" "${LOCKSTEP_TORCH_ROOT}/include" "${LOCKSTEP_TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_libraries(Lockstep::torch_cpu INTERFACE "${LOCKSTEP_TORCH_ROOT}/lib/libc10.so")
  # libtorch_cpu finds the libraries that it wants by its own run path; the linker need not.
  target_link_options(Lockstep::torch_cpu INTERFACE -Wl,--allow-shlib-undefined)
endif()
