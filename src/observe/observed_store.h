// A view of an engine's store that tells of what it refuses.

#pragma once

#include <memory>

#include "core/store_backend.h"
#include "observe/witness.h"

namespace holdfast::observe {

std::shared_ptr<StoreBackend> observed_store(std::shared_ptr<StoreBackend> inner,
                                             std::shared_ptr<Witness> witness);

}  // namespace holdfast::observe
