#include "client/engine_url.h"
#include "client/prefix_backend.h"
#include "engines/local/local_backend.h"
#include "holdfast/client.h"

namespace holdfast {

Result<Client> Client::connect(std::string_view url) {
  auto parsed = parse_engine_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  auto backend = local::open_backend(std::move(parsed->directory));
  if (!backend) return Unexpected{std::move(backend).error()};
  if (parsed->prefix.empty()) return Client{std::move(*backend)};
  return Client{with_prefix(std::move(*backend), std::move(parsed->prefix))};
}

}  // namespace holdfast
