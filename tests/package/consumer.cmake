# Steps the package tests share. Every step that fails ends the test with what was run and said.

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "FAILS" "OUTPUT" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(arg_FAILS AND status EQUAL 0)
    message(FATAL_ERROR "should have failed: ${arg_COMMAND}\n${output}")
  elseif(NOT arg_FAILS AND NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${arg_COMMAND}\n${output}")
  endif()
  if(arg_OUTPUT)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

# Code built with a sanitizer links only into programs built with it.
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_BUILD_TYPE=Debug
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
if(SANITIZE)
  list(APPEND configure -D CMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()

# Builds the consumer and lets it take a lock twice: both tokens are printed, the second is higher.
function(build_and_run build)
  run(COMMAND ${CMAKE_COMMAND} --build ${build} --target consumer)
  foreach(turn first second)
    run(COMMAND ${build}/consumer local:${WORK}/state OUTPUT said)
    if(NOT said MATCHES "^token ([0-9]+)\n$")
      message(FATAL_ERROR "the consumer printed no token:\n${said}")
    endif()
    set(${turn} ${CMAKE_MATCH_1})
  endforeach()
  if(NOT second GREATER first)
    message(FATAL_ERROR "token ${second} came after ${first}")
  endif()
endfunction()

function(expect_match text pattern)
  string(REGEX REPLACE "[ \n]+" " " line "${text}")
  if(NOT line MATCHES "${pattern}")
    message(FATAL_ERROR "expected '${pattern}' in:\n${text}")
  endif()
endfunction()

function(expect_file path)
  if(NOT EXISTS ${path})
    message(FATAL_ERROR "not installed: ${path}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
