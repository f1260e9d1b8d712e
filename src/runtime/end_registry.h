// EndRegistry: ends what belongs to an io_context when that goes.
//
// A task that waits for an answer is kept by whoever will answer it, and may itself keep the driver
// that owns the answerer. Nobody outside of that circle would ever drop it.
//
// Thread safety: any thread.

#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace holdfast::runtime {

/// One that keeps what is to be called back. Lifetime: shared; the context outlives it, or ends it.
class EndsWithContext : public std::enable_shared_from_this<EndsWithContext> {
 public:
  explicit EndsWithContext(boost::asio::io_context& context);
  virtual ~EndsWithContext();
  EndsWithContext(const EndsWithContext&) = delete;
  EndsWithContext& operator=(const EndsWithContext&) = delete;

  /// Drops what was to be called back, without calling it.
  virtual void end_with_context() = 0;

 private:
  boost::asio::io_context& context_;
};

class EndRegistry final : public boost::asio::execution_context::service {
 public:
  using key_type = EndRegistry;
  static boost::asio::execution_context::id id;

  explicit EndRegistry(boost::asio::execution_context& context) : service{context} {}

  void add(EndsWithContext& member);
  void remove(EndsWithContext& member);

 private:
  void shutdown() override;

  std::mutex mutex_;
  std::unordered_set<EndsWithContext*> members_;
};

}  // namespace holdfast::runtime
