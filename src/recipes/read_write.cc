#include "holdfast/read_write.h"

#include <utility>

#include "holdfast/async_read_write.h"
#include "recipes/as_awaitable.h"
#include "recipes/read_write_steps.h"
#include "recipes/run_here.h"

namespace holdfast {

using recipes::as_awaitable;
using recipes::run_here;
using Reading = Result<ReadLease, AcquireError>;
using Writing = Result<WriteLease, AcquireError>;

std::string intent_lock(std::string_view name) { return std::string{name} + "~intent"; }

ReleaseOutcome WriteLease::release() {
  const ReleaseOutcome outcome = lease_.release();
  intent_.release();
  return outcome;
}

ReadWriteLock::ReadWriteLock(Client client, std::string name, const ReadWriteOptions& options)
    : steps_{
          std::make_shared<recipes::ReadWriteSteps>(std::move(client), std::move(name), options)} {}

Reading ReadWriteLock::read(Millis wait, std::stop_token stop) {
  return run_here(steps_->read(wait, std::move(stop)));
}

Writing ReadWriteLock::write(Millis wait, std::stop_token stop) {
  return run_here(steps_->write(wait, std::move(stop)));
}

Writing ReadWriteLock::upgrade(ReadLease& reader, Millis wait, std::stop_token stop) {
  return run_here(steps_->upgrade(reader, wait, std::move(stop)));
}

Reading ReadWriteLock::downgrade(WriteLease writer, Millis wait, std::stop_token stop) {
  return run_here(steps_->downgrade(std::move(writer), wait, std::move(stop)));
}

boost::asio::awaitable<Reading> async_read(const ReadWriteLock& lock,
                                           Millis wait,
                                           std::stop_token stop) {
  return as_awaitable(lock.steps()->read(wait, std::move(stop)));
}

boost::asio::awaitable<Writing> async_write(const ReadWriteLock& lock,
                                            Millis wait,
                                            std::stop_token stop) {
  return as_awaitable(lock.steps()->write(wait, std::move(stop)));
}

boost::asio::awaitable<Writing> async_upgrade(const ReadWriteLock& lock,
                                              ReadLease& reader,
                                              Millis wait,
                                              std::stop_token stop) {
  return as_awaitable(lock.steps()->upgrade(reader, wait, std::move(stop)));
}

boost::asio::awaitable<Reading> async_downgrade(const ReadWriteLock& lock,
                                                WriteLease writer,
                                                Millis wait,
                                                std::stop_token stop) {
  return as_awaitable(lock.steps()->downgrade(std::move(writer), wait, std::move(stop)));
}

}  // namespace holdfast
