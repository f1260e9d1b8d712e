# holdfast_link_tests()
#
# For every module a program that links the whole of it with nothing but what it declares: a module
# that quietly uses a symbol of another one does not link. Call it after the last holdfast_module().
function(holdfast_link_tests)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/link_test.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  get_property(modules GLOBAL PROPERTY HOLDFAST_MODULES)
  foreach(module IN LISTS modules)
    add_executable(${module}_link_test ${source})
    target_link_libraries(${module}_link_test PRIVATE
      $<LINK_LIBRARY:WHOLE_ARCHIVE,${module}> holdfast_options)
    add_test(NAME ${module}_link_test COMMAND ${module}_link_test)
  endforeach()
endfunction()
