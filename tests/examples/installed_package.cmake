# Installs the build into an empty prefix, then configures and builds examples/train_func against it
# as its user would, and trains with it on two workers, twice with the same bits.
#   cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... [-DCOMPILER_LAUNCHER=...] -P installed_package.cmake
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${SOURCE_DIR} RESULT_VARIABLE result COMMAND_ECHO STDOUT)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/examples/train_func -B ${WORK_DIR}/build
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
foreach(folder run again)
  run(${WORK_DIR}/build/train_func examples/tiny.yaml run.dir=${WORK_DIR}/${folder} train.steps=5 determinism=run)
  file(STRINGS ${WORK_DIR}/${folder}/events/g001.jsonl finished REGEX "\"finished\"")
  string(JSON weights_of_${folder} GET "${finished}" weights_sha256)
endforeach()
if(NOT weights_of_run STREQUAL weights_of_again)
  message(FATAL_ERROR "the same recipe ended with other weights: ${weights_of_run}, ${weights_of_again}")
endif()
file(STRINGS ${WORK_DIR}/run/metrics/g001.jsonl metrics)
list(LENGTH metrics steps)
if(NOT steps EQUAL 5)
  message(FATAL_ERROR "trained 5 steps, but ${WORK_DIR}/run/metrics/g001.jsonl has ${steps} lines")
endif()
