// A program of somebody else's: takes a lock at the engine it is given and prints its token.

#include <holdfast/client.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  auto client = holdfast::Client::connect(argv[1]);
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().message.c_str());
    return 1;
  }
  auto lease = client->try_acquire("package");
  if (!lease) {
    std::fprintf(stderr, "%s\n", lease.error().message.c_str());
    return 1;
  }
  std::printf("token %llu\n", static_cast<unsigned long long>(lease->token().value()));
  return lease->release() == holdfast::ReleaseOutcome::released ? 0 : 1;
}
