# Checks one world of one model: cmake -DSPIN= -DCC= -DMODEL= -DFLAGS= -DEXPECT=holds|fails -P …
#
# Runs in the current folder. `holds`: spin has searched everything and found no error. `fails`: an
# assertion does not hold, which is what a broken variant is for.

separate_arguments(flags UNIX_COMMAND "${FLAGS}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${status}\n${out}")
  endif()
endfunction()

run(${SPIN} ${flags} -a ${MODEL})
set(optimise -O2)
if(EXPECT STREQUAL "fails")
  set(optimise -O1)
endif()
run(${CC} ${optimise} -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c)
execute_process(COMMAND ./pan -m10000 -n OUTPUT_VARIABLE report ERROR_VARIABLE report)
message("${report}")

string(REGEX MATCH "errors: ([0-9]+)" found "${report}")
if(NOT found)
  message(FATAL_ERROR "the search said nothing")
endif()
set(errors ${CMAKE_MATCH_1})
if(EXPECT STREQUAL "holds")
  if(NOT errors EQUAL 0 OR report MATCHES "not completed|max search depth too small")
    message(FATAL_ERROR "expected to hold; why not, in this folder: spin ${FLAGS} -t -p ${MODEL}")
  endif()
elseif(errors EQUAL 0 OR NOT report MATCHES "assertion violated")
  message(FATAL_ERROR "expected to fail, and it does not: the model no longer sees this mistake")
endif()
