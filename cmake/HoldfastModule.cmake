# holdfast_module(<name> SOURCES … [TESTS …] [USES module…] [PUBLIC lib…] [PRIVATE lib…]
#                 [TEST_USES module…])
#
# One folder, one static library `holdfast_<name>`, one test program `<name>_test`. USES names
# other modules; a module that is not in HOLDFAST_MAY_USE_<name> stops the configuration, which is
# how the directions of ARCHITECTURE.md are kept. PUBLIC and PRIVATE name outside libraries.

set(HOLDFAST_MAY_USE_base)
set(HOLDFAST_MAY_USE_core base)
set(HOLDFAST_MAY_USE_runtime base)
set(HOLDFAST_MAY_USE_local base core)
set(HOLDFAST_MAY_USE_redis base core)
set(HOLDFAST_MAY_USE_redis_store base core redis)
set(HOLDFAST_MAY_USE_redis_driver base core runtime redis)
set(HOLDFAST_MAY_USE_redis_doctor base core runtime redis redis_driver)
set(HOLDFAST_MAY_USE_redlock base core redis)
set(HOLDFAST_MAY_USE_etcd base core)
set(HOLDFAST_MAY_USE_etcd_store base core etcd)
set(HOLDFAST_MAY_USE_etcd_driver base core runtime etcd)
set(HOLDFAST_MAY_USE_etcd_doctor base core runtime etcd etcd_driver)
set(HOLDFAST_MAY_USE_zookeeper base core)
set(HOLDFAST_MAY_USE_zookeeper_store base core zookeeper)
set(HOLDFAST_MAY_USE_zookeeper_driver base core runtime zookeeper)
set(HOLDFAST_MAY_USE_zookeeper_doctor base core runtime zookeeper zookeeper_driver)
set(HOLDFAST_MAY_USE_postgres base core)
set(HOLDFAST_MAY_USE_postgres_schema base core postgres)
set(HOLDFAST_MAY_USE_postgres_advisory base core postgres)
set(HOLDFAST_MAY_USE_postgres_callers base core postgres postgres_advisory)
set(HOLDFAST_MAY_USE_postgres_store base core postgres)
set(HOLDFAST_MAY_USE_postgres_driver base core runtime postgres)
set(HOLDFAST_MAY_USE_postgres_doctor base core postgres postgres_schema)
set(HOLDFAST_MAY_USE_client
  base core local redis redis_doctor redis_driver redis_store redlock
  etcd etcd_doctor etcd_driver etcd_store
  zookeeper zookeeper_doctor zookeeper_driver zookeeper_store
  postgres postgres_advisory postgres_callers postgres_doctor postgres_driver postgres_schema
  postgres_store runtime)
set(HOLDFAST_MAY_USE_recipes base core client)
set(HOLDFAST_MAY_USE_observe base core client)
set(HOLDFAST_MAY_USE_bench
  base core local redis etcd etcd_driver zookeeper zookeeper_driver client observe recipes)
set(HOLDFAST_MAY_USE_lab base core client recipes sim)
set(HOLDFAST_MAY_USE_cli base core client observe recipes bench lab sim)
set(HOLDFAST_MAY_USE_sim base core redis redlock etcd zookeeper postgres)

function(holdfast_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;USES;PUBLIC;PRIVATE;TEST_USES" ${ARGN})
  set(target holdfast_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(holdfast::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD ${HOLDFAST_UNITY})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  foreach(module IN LISTS arg_USES)
    if(NOT module IN_LIST HOLDFAST_MAY_USE_${name})
      message(FATAL_ERROR "src/${name} may not depend on src/${module}: see ARCHITECTURE.md")
    endif()
    target_link_libraries(${target} PUBLIC holdfast_${module})
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE}
                        PRIVATE $<BUILD_INTERFACE:holdfast_options>)
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_MODULES ${target})
  if(HOLDFAST_TESTS AND arg_TESTS)
    holdfast_test(${name}_test SOURCES ${arg_TESTS} USES ${name} ${arg_TEST_USES})
  endif()
endfunction()

# holdfast_test(<program> SOURCES … USES module… [LIBS lib…] [LABELS label…] [TIMEOUT seconds]
#               [EXCEPT filter] [TOGETHER])
# Every TEST of the program becomes a test of ctest, unless its name matches the filter. TOGETHER:
# they become one, because they share a server that is slow to start.
# What most of them include is compiled once for all.
function(holdfast_test program)
  cmake_parse_arguments(arg "TOGETHER" "TIMEOUT;EXCEPT" "SOURCES;USES;LIBS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${program} ${arg_SOURCES})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  foreach(module IN LISTS arg_USES)
    target_link_libraries(${program} PRIVATE holdfast_${module})
  endforeach()
  target_link_libraries(${program} PRIVATE holdfast_options GTest::gtest_main ${arg_LIBS})
  set_target_properties(${program} PROPERTIES HOLDFAST_IS_TEST ON)
  target_precompile_headers(${program} REUSE_FROM holdfast_test_headers)
  target_compile_options(${program} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(arg_TOGETHER)
    add_test(NAME ${program} COMMAND ${program} --gtest_brief=1 --gtest_filter=-${arg_EXCEPT})
    set_tests_properties(${program} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
    return()
  endif()
  set(filter)
  if(arg_EXCEPT)
    set(filter TEST_FILTER -${arg_EXCEPT})
  endif()
  gtest_discover_tests(${program}
    DISCOVERY_MODE PRE_TEST ${filter}
    PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
