# Settings every Holdfast target shares, as one interface target, so that a project which adds
# Holdfast as a subdirectory keeps its own flags.

include(GNUInstallDirs)

find_program(HOLDFAST_CCACHE ccache)
if(HOLDFAST_CCACHE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HOLDFAST_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HOLDFAST_CCACHE})
endif()

add_library(holdfast_options INTERFACE)
target_compile_features(holdfast_options INTERFACE cxx_std_20)
target_compile_options(holdfast_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlapping copies in plain string concatenation, uninitialised variants, coroutine
  # frames freed by the wrong operator, and, behind precompiled headers, copies past short strings.
  set(copies -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  target_compile_options(holdfast_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized
    -Wno-mismatched-new-delete "$<$<BOOL:$<TARGET_PROPERTY:HOLDFAST_IS_TEST>>:${copies}>")
endif()
if(HOLDFAST_WARNINGS_AS_ERRORS)
  target_compile_options(holdfast_options INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # -O3 makes coroutines slow to compile and no faster to run. Tests are compiled as quickly as can
  # be: how fast they run themselves is not measured.
  set(is_test $<BOOL:$<TARGET_PROPERTY:HOLDFAST_IS_TEST>>)
  target_compile_options(holdfast_options INTERFACE
    $<IF:${is_test},-O1,-O2> $<IF:${is_test},-g0,-g1>)
endif()
if(HOLDFAST_SANITIZE)
  set(sanitize -fsanitize=${HOLDFAST_SANITIZE} -fno-omit-frame-pointer)
  if(HOLDFAST_SANITIZE MATCHES "undefined")
    list(APPEND sanitize -fno-sanitize-recover=undefined)
  endif()
  if(HOLDFAST_SANITIZE MATCHES "thread")
    # g++ warns that TSan does not model std::atomic_thread_fence; Holdfast uses none.
    list(APPEND sanitize -Wno-tsan)
  endif()
  target_compile_options(holdfast_options INTERFACE ${sanitize})
  target_link_options(holdfast_options INTERFACE ${sanitize})
endif()

find_package(Threads REQUIRED)
if(HOLDFAST_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
