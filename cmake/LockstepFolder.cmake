# lockstep_folder(NAME [TORCH] SOURCES a.cpp ... [LINK target ...])
# One object target a folder; all of them make liblockstep.so. TORCH marks the
# folders that include libtorch: without LOCKSTEP_TORCH they are left out.
add_library(lockstep_options INTERFACE)
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR})

function(lockstep_folder name)
  cmake_parse_arguments(FOLDER "TORCH" "" "SOURCES;LINK" ${ARGN})
  if(FOLDER_TORCH AND NOT LOCKSTEP_TORCH)
    return()
  endif()
  add_library(lockstep_${name} OBJECT ${FOLDER_SOURCES})
  target_link_libraries(lockstep_${name} PRIVATE lockstep_options)
  target_link_libraries(lockstep_${name} PUBLIC
    nlohmann_json::nlohmann_json yaml-cpp fmt::fmt spdlog::spdlog OpenSSL::Crypto Threads::Threads ${FOLDER_LINK})
  if(FOLDER_TORCH)
    target_link_libraries(lockstep_${name} PUBLIC torch_cpu)
  endif()
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_FOLDERS lockstep_${name})
endfunction()
