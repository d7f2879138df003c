# How everything is compiled: C++20, a compiler cache, a fast linker, and the same objects
# wherever the checkout lies.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Paths in messages (__FILE__) and debug information start at the checkout: no machine's folders in
# a binary, and a second checkout finds the first one's objects in the cache. The cache hands the
# compiler paths relative to the build folder, hence the second map.
file(RELATIVE_PATH source_from_build ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>"
  "$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${source_from_build}=>")

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  # The sloppiness is what ccache asks for to cache units that use a precompiled header.
  set(LOCKSTEP_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros ${LOCKSTEP_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOCKSTEP_COMPILER_LAUNCHER})
endif()

find_program(LOCKSTEP_MOLD mold)
if(LOCKSTEP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# lockstep_precompile_modules(TARGET): torch/nn/module.h takes 14 s to read, so the targets most of whose
# files include it share a precompiled one. For the others it would cost more (4 s a file) than it saves.
# Programs share another than the libraries, whose code is compiled with other options.
function(lockstep_precompile_modules target)
  get_target_property(kind ${target} TYPE)
  get_property(first GLOBAL PROPERTY LOCKSTEP_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE <torch/nn/module.h>)
    set_property(GLOBAL PROPERTY LOCKSTEP_PRECOMPILED_${kind} ${target})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()
