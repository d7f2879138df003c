# Apache Arrow's C++ libraries as the target Lockstep::arrow, from the pyarrow wheel. Sets
# LOCKSTEP_ARROW_FOUND.
#
# LOCKSTEP_ARROW: AUTO builds liblockstep_arrow.so when Arrow is there, ON insists, OFF never looks.
set(LOCKSTEP_ARROW_ROOT "${LOCKSTEP_SITE}/pyarrow" CACHE PATH "Apache Arrow: include/, libarrow.so.*, libarrow_s3.so.*")
set(LOCKSTEP_ARROW_FOUND OFF)
if(NOT LOCKSTEP_ARROW)
  return()
endif()

# The wheel has the libraries under their version's names alone.
file(GLOB arrow_libraries "${LOCKSTEP_ARROW_ROOT}/libarrow.so.*" "${LOCKSTEP_ARROW_ROOT}/libarrow_s3.so.*")
list(LENGTH arrow_libraries num_libraries)
if(NOT num_libraries EQUAL 2 OR NOT EXISTS "${LOCKSTEP_ARROW_ROOT}/include/arrow/filesystem/s3fs.h")
  if(LOCKSTEP_ARROW STREQUAL "AUTO")
    message(STATUS "Not building liblockstep_arrow.so: no Apache Arrow in ${LOCKSTEP_ARROW_ROOT}")
    return()
  endif()
  message(FATAL_ERROR "LOCKSTEP_ARROW=${LOCKSTEP_ARROW}, but there is no Apache Arrow in LOCKSTEP_ARROW_ROOT="
                      "${LOCKSTEP_ARROW_ROOT}: run scripts/setup, or set it to a folder with include/ and the libraries")
endif()

add_library(lockstep_arrow_libraries INTERFACE)
add_library(Lockstep::arrow ALIAS lockstep_arrow_libraries)
target_include_directories(lockstep_arrow_libraries SYSTEM INTERFACE "${LOCKSTEP_ARROW_ROOT}/include")
target_link_libraries(lockstep_arrow_libraries INTERFACE ${arrow_libraries})
set(LOCKSTEP_ARROW_FOUND ON)
