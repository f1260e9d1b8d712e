# holdfast::holdfast, the target programs link, and the rules that install it.
#
# The library is src/recipes, src/observe and every module they link, directly or through others.
# What nothing public needs (the simulator, an engine without a driver, the command's own code) is
# neither exported nor installed. Engines in the library become components of find_package().

include(CMakePackageConfigHelpers)

# Splits what `targets` link, through any number of our own targets, into those and the rest.
function(holdfast_closure targets ours_out outside_out)
  set(ours)
  set(outside)
  set(open ${targets})
  while(open)
    list(POP_FRONT open item)
    if(item IN_LIST ours OR item IN_LIST outside)
      continue()
    endif()
    if(NOT item MATCHES "^holdfast_")
      list(APPEND outside ${item})
      continue()
    endif()
    list(APPEND ours ${item})
    get_target_property(links ${item} LINK_LIBRARIES)
    # What is wrapped in BUILD_INTERFACE stays in this build.
    list(FILTER links EXCLUDE REGEX "BUILD_INTERFACE|NOTFOUND")
    list(APPEND open ${links})
  endwhile()
  set(${ours_out} ${ours} PARENT_SCOPE)
  set(${outside_out} ${outside} PARENT_SCOPE)
endfunction()

# The find_dependency() lines for outside libraries, and nothing that is not linked.
function(holdfast_dependencies out libraries)
  set(text)
  if(libraries MATCHES "Threads::")
    string(APPEND text "find_dependency(Threads)\n")
  endif()
  if(libraries MATCHES "OpenSSL::")
    string(APPEND text "find_dependency(OpenSSL COMPONENTS Crypto SSL)\n")
  endif()
  if(libraries MATCHES "SQLite::")
    string(APPEND text "find_dependency(SQLite3)\n")
  endif()
  if(libraries MATCHES "protobuf::")
    string(APPEND text "find_dependency(Protobuf)\n")
  endif()
  if(libraries MATCHES "gRPC::")
    string(APPEND text "find_dependency(gRPC CONFIG)\n")
  endif()
  if(libraries MATCHES "Boost::")
    string(APPEND text "find_dependency(Boost 1.81)\n")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(holdfast_engines out modules)
  set(engines)
  foreach(module IN LISTS modules)
    get_target_property(folder ${module} SOURCE_DIR)
    if(folder MATCHES "/src/engines/([a-z]+)$")
      list(APPEND engines ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${out} "${engines}" PARENT_SCOPE)
endfunction()

add_library(holdfast INTERFACE)
add_library(holdfast::holdfast ALIAS holdfast)
target_link_libraries(holdfast INTERFACE holdfast_recipes holdfast_observe)
target_compile_features(holdfast INTERFACE cxx_std_20)

if(NOT HOLDFAST_INSTALL)
  return()
endif()

holdfast_closure("holdfast_recipes;holdfast_observe" modules libraries)
holdfast_dependencies(HOLDFAST_DEPENDENCIES "${libraries}")
holdfast_engines(HOLDFAST_COMPONENTS "${modules}")

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
install(TARGETS holdfast ${modules} EXPORT holdfastTargets)
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION ${config_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/holdfastConfig.cmake.in ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
  INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
              ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
        DESTINATION ${config_dir})

if(HOLDFAST_COMMAND)
  install(TARGETS holdfast_command RUNTIME)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/holdfast.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(completions ${PROJECT_SOURCE_DIR}/src/cli/completions)
  install(FILES ${completions}/holdfast.bash RENAME holdfast
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/_holdfast DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
