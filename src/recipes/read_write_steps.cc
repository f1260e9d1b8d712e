#include "recipes/read_write_steps.h"

#include <utility>

namespace holdfast::recipes {

using Reading = Result<ReadLease, AcquireError>;
using Writing = Result<WriteLease, AcquireError>;

ReadWriteSteps::ReadWriteSteps(Client client, std::string name, const ReadWriteOptions& options)
    : client_{std::move(client)},
      name_{std::move(name)},
      ttl_{options.ttl},
      label_{options.label} {}

ReadWriteSteps::Taking ReadWriteSteps::taking(ClientLocks& locks) const {
  return Taking{locks, name_, {.ttl = ttl_, .label = label_}};
}

Reading ReadWriteSteps::reading(Taking::Taken taken) {
  if (!taken) return Unexpected{std::move(taken).error()};
  return ReadLease{*std::move(taken)};
}

Writing ReadWriteSteps::writing(Taking::Writing taken) {
  if (!taken) return Unexpected{std::move(taken).error()};
  return WriteLease{std::move(taken->intent), std::move(taken->lease)};
}

Task<Reading> ReadWriteSteps::read(Millis wait, std::stop_token stop) const {
  ClientLocks locks{client_};
  Taking taking_it = taking(locks);
  auto taken = co_await taking_it.read(wait, std::move(stop));
  co_return reading(std::move(taken));
}

Task<Writing> ReadWriteSteps::write(Millis wait, std::stop_token stop) const {
  ClientLocks locks{client_};
  Taking taking_it = taking(locks);
  auto taken = co_await taking_it.write(wait, std::move(stop));
  co_return writing(std::move(taken));
}

Task<Writing> ReadWriteSteps::upgrade(ReadLease& reader, Millis wait, std::stop_token stop) const {
  ClientLocks locks{client_};
  Taking taking_it = taking(locks);
  auto taken = co_await taking_it.upgrade(reader.lease_, wait, std::move(stop));
  co_return writing(std::move(taken));
}

Task<Reading> ReadWriteSteps::downgrade(WriteLease writer,
                                        Millis wait,
                                        std::stop_token stop) const {
  ClientLocks locks{client_};
  Taking taking_it = taking(locks);
  Taking::Writer leases{std::move(writer.intent_), std::move(writer.lease_)};
  auto taken = co_await taking_it.downgrade(std::move(leases), wait, std::move(stop));
  co_return reading(std::move(taken));
}

}  // namespace holdfast::recipes
