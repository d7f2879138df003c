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

# lockstep_precompile(TARGET NAME HEADERS...): targets of one NAME share a precompiled header, made with the
# options of the first. Worth it where most files of a target include what it holds: torch/nn/module.h takes
# 14 s to read and 4 s precompiled, for each file, whether it is needed or not.
function(lockstep_precompile target name)
  get_property(first GLOBAL PROPERTY LOCKSTEP_PRECOMPILED_${name})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY LOCKSTEP_PRECOMPILED_${name} ${target})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()
