#include "tests/headers/test_headers.h"
