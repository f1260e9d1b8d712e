# Goal: Holdfast works as a folder of another project, and brings only its library along.
# Method: configure, build and run a consumer that adds this source folder.

include(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake)

run(COMMAND ${configure} -S ${CONSUMER} -B ${WORK}/build
  -D HOLDFAST_SOURCE=${HOLDFAST_SOURCE} -D HOLDFAST_UNITY=ON)
build_and_run(${WORK}/build)
