# Compiles one public header alone, and lists what it includes.
#
#   cmake -DCOMPILER=… -DINCLUDE_DIR=… -DHEADER=holdfast/x.h [-DFORBID=regex]
#         -P check_header.cmake
#
# Fails when the header does not stand on its own, or includes a file that matches FORBID.

execute_process(
  COMMAND ${CMAKE_COMMAND} -E echo "#include <${HEADER}>"
  COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only -H -I${INCLUDE_DIR} -x c++ -
  RESULT_VARIABLE status
  ERROR_VARIABLE includes)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${HEADER} does not compile alone:\n${includes}")
endif()
if(NOT includes MATCHES "${HEADER}")
  message(FATAL_ERROR "the compiler did not list ${HEADER} itself:\n${includes}")
endif()
if(FORBID)
  string(REGEX MATCHALL "[^\n]*${FORBID}[^\n]*" found "${includes}")
  if(found)
    message(FATAL_ERROR "${HEADER} includes ${found}")
  endif()
endif()
