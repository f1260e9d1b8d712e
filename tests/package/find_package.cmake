# Goal: an installed Holdfast is found, links and works; what it lacks is refused by name.
# Method: install this build into a fresh prefix, then configure, build and run a consumer.

include(${CMAKE_CURRENT_LIST_DIR}/consumer.cmake)

set(prefix ${WORK}/prefix)
run(COMMAND ${CMAKE_COMMAND} --install ${HOLDFAST_BUILD} --prefix ${prefix})

list(APPEND configure -S ${CONSUMER} -D CMAKE_PREFIX_PATH=${prefix})
run(COMMAND ${configure} -B ${WORK}/build)
build_and_run(${WORK}/build)

run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target coroutine)
run(COMMAND ${WORK}/build/coroutine local:${WORK}/state OUTPUT said)
expect_match("${said}" "worker 3 has token [0-9]+")

# Finds gRPC and protobuf on the consumer's side.
run(COMMAND ${configure} -B ${WORK}/etcd -D ENGINE=etcd)
run(COMMAND ${configure} -B ${WORK}/zookeeper -D ENGINE=zookeeper)
run(COMMAND ${configure} -B ${WORK}/postgres -D ENGINE=postgres)

run(FAILS COMMAND ${configure} -B ${WORK}/unknown -D ENGINE=nonsense OUTPUT said)
expect_match("${said}" "built without the engine 'nonsense'; it has: etcd, local")

run(FAILS COMMAND ${configure} -B ${WORK}/newer -D WANTED=99.0 OUTPUT said)
expect_match("${said}" "compatible with requested version \"99.0\"")

run(COMMAND ${prefix}/bin/holdfast --version OUTPUT said)
expect_match("${said}" "${VERSION}")
expect_file(${prefix}/share/man/man1/holdfast.1)
expect_file(${prefix}/share/bash-completion/completions/holdfast)
expect_file(${prefix}/share/zsh/site-functions/_holdfast)
