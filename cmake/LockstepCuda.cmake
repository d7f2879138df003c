# The CUDA toolchain, from the pinned wheels or from an installed toolkit. Sets
# LOCKSTEP_CUDA_FOUND and the target lockstep_cuda_libraries (headers and libraries for
# liblockstep_cuda.so). No GPU and no driver are needed to build.
#
# LOCKSTEP_CUDA: AUTO builds when everything is there, ON insists, OFF never looks.
set(LOCKSTEP_CUDA_ROOT "${LOCKSTEP_SITE}/nvidia/cu13" CACHE PATH "CUDA 13 toolkit: bin/nvcc, include/, lib/")
# torch's process group holds an ncclConfig_t, so the header must be of the NCCL that torch was built with.
set(LOCKSTEP_NCCL_ROOT "${LOCKSTEP_SITE}/nvidia/nccl" CACHE PATH "The NCCL that torch was built with: include/nccl.h")
set(LOCKSTEP_CUDA_FOUND OFF)
if(NOT LOCKSTEP_CUDA OR NOT LOCKSTEP_TORCH)
  return()
endif()

# torch's CUDA headers include those of cuBLAS, cuSPARSE and cuSOLVER; only the headers are used.
set(needed "${LOCKSTEP_CUDA_ROOT}/bin/nvcc" "${LOCKSTEP_NCCL_ROOT}/include/nccl.h")
foreach(header cuda_runtime_api.h cublas_v2.h cusparse.h cusolverDn.h)
  list(APPEND needed "${LOCKSTEP_CUDA_ROOT}/include/${header}")
endforeach()
foreach(file ${needed})
  if(NOT EXISTS "${file}")
    if(LOCKSTEP_CUDA STREQUAL "AUTO")
      message(STATUS "Not building liblockstep_cuda.so: no ${file}")
      return()
    endif()
    message(FATAL_ERROR "LOCKSTEP_CUDA=${LOCKSTEP_CUDA}, but there is no ${file}: "
                        "run scripts/setup, or set LOCKSTEP_CUDA_ROOT and LOCKSTEP_NCCL_ROOT")
  endif()
endforeach()
file(GLOB cudart "${LOCKSTEP_CUDA_ROOT}/lib*/libcudart.so.13")
list(GET cudart 0 cudart)
cmake_path(GET cudart PARENT_PATH cuda_lib)

# g++ links, so nvcc needs no runtime library of its own; its default, the static one, is looked for in
# lib64, which wheels do not have.
set(CMAKE_CUDA_COMPILER "${LOCKSTEP_CUDA_ROOT}/bin/nvcc")
set(CMAKE_CUDA_FLAGS_INIT "-L${cuda_lib}")
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 89-real 90a-real)  # A100, L4 and L40, H100 and H200
endif()
if(LOCKSTEP_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${LOCKSTEP_COMPILER_LAUNCHER})
endif()
# CMake 3.25 does not know the C++20 option of nvcc 13.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA_STANDARD 20)
enable_language(CUDA)

add_library(lockstep_cuda_libraries INTERFACE)
target_include_directories(lockstep_cuda_libraries SYSTEM INTERFACE
  "${LOCKSTEP_CUDA_ROOT}/include" "${LOCKSTEP_CUDA_ROOT}/include/cccl" "${LOCKSTEP_NCCL_ROOT}/include")
target_compile_definitions(lockstep_cuda_libraries INTERFACE USE_C10D_NCCL)
target_link_libraries(lockstep_cuda_libraries INTERFACE
  torch_cpu "${LOCKSTEP_TORCH_ROOT}/lib/libtorch_cuda.so" "${LOCKSTEP_TORCH_ROOT}/lib/libc10_cuda.so" "${cudart}")
set(LOCKSTEP_CUDA_FOUND ON)
