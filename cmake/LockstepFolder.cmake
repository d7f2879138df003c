# lockstep_folder(NAME [TORCH] [MODULES] SOURCES a.cpp ... [LINK target ...])
# One object target a folder; all of them make liblockstep.so. TORCH marks the
# folders that include libtorch: without LOCKSTEP_TORCH they are left out. MODULES
# marks those most of whose files include torch/nn/module.h.
add_library(lockstep_options INTERFACE)
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR})

function(lockstep_folder name)
  cmake_parse_arguments(FOLDER "TORCH;MODULES" "" "SOURCES;LINK" ${ARGN})
  if(FOLDER_TORCH AND NOT LOCKSTEP_TORCH)
    return()
  endif()
  add_library(lockstep_${name} OBJECT ${FOLDER_SOURCES})
  target_link_libraries(lockstep_${name} PRIVATE lockstep_options)
  target_link_libraries(lockstep_${name} PUBLIC lockstep_dependencies ${FOLDER_LINK})
  if(FOLDER_TORCH)
    target_link_libraries(lockstep_${name} PUBLIC Lockstep::torch_cpu)
  endif()
  if(FOLDER_MODULES)
    lockstep_precompile(lockstep_${name} MODULES <torch/nn/module.h>)
  endif()
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_FOLDERS lockstep_${name})
endfunction()
