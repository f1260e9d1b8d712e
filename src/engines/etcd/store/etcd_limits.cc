#include "engines/etcd/store/etcd_limits.h"

#include <utility>

namespace holdfast::etcd {
namespace {

using core::LimitPage;

Result<LimitPage> page_of(const std::string& key, const std::vector<KeyValue>& found) {
  if (found.empty()) return LimitPage{.known = LimitPage::Known::absent};
  const auto mark = core::read_ahead_mark(found[0].value);
  if (!mark) {
    return Unexpected{Error{Errc::corrupt,
                            "what is stored for the rate limit " + key + " is not one",
                            "another program has written there: use another prefix"}};
  }
  return LimitPage{.known = LimitPage::Known::present, .mark = *mark, .version = found[0].modified};
}

}  // namespace

std::string limit_key(std::string_view prefix, std::string_view key) {
  return std::string{prefix} + "\x01limit:" + std::string{key};
}

EtcdLimits::EtcdLimits(Env& env,
                       std::shared_ptr<EtcdPort> port,
                       std::string prefix,
                       WallClock clock)
    : port_{std::move(port)},
      prefix_{std::move(prefix)},
      clock_{std::move(clock)},
      leases_{env, *port_} {}

Task<Result<Duration>> EtcdLimits::time(TimePoint /*answer_by*/) { co_return clock_(); }

Task<Result<core::LimitBook::Swapped>> EtcdLimits::swap(const std::string& key,
                                                        const LimitPage& seen,
                                                        core::AheadMark mark,
                                                        Duration keep,
                                                        TimePoint answer_by) {
  // Few different times, so that few leases serve all keys.
  const Duration lasting = std::chrono::ceil<std::chrono::duration<int, std::ratio<600>>>(keep);
  const auto lease = co_await leases_.lasting(lasting, answer_by);
  if (!lease) {
    Error error = lease.error();
    // A lease that may have been made holds nothing yet.
    if (error.code == Errc::unknown_outcome) error.code = Errc::unavailable;
    co_return Unexpected{std::move(error)};
  }
  const std::string path = limit_key(prefix_, key);
  Txn txn;
  // One that is not there was never modified.
  txn.when.push_back(Compare{.key = path, .what = Compare::What::modified, .number = seen.version});
  txn.then.push_back(Put{.key = path, .value = core::to_text(mark), .lease = *lease});
  txn.otherwise.push_back(Range{.keys = {path}});
  const SharedTxn shared = share(std::move(txn));
  auto answer = co_await port_->committed(shared, answer_by);
  if (!answer) {
    // Somebody has ended it: the next one is made anew.
    if (answer.error().code == Errc::lost) {
      leases_.forget();
      answer.error().code = Errc::unavailable;
    }
    co_return Unexpected{std::move(answer).error()};
  }
  if (answer->held) {
    const LimitPage made{
        .known = LimitPage::Known::present, .mark = mark, .version = answer->header.revision};
    co_return Swapped{.made = true, .page = made};
  }
  const std::vector<KeyValue> none;
  auto page = page_of(key, answer->answers.empty() ? none : answer->answers[0].found);
  if (!page) co_return Unexpected{std::move(page).error()};
  co_return Swapped{.page = *page};
}

}  // namespace holdfast::etcd
