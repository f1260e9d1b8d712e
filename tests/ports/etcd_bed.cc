#include "tests/ports/etcd_bed.h"

#include <random>

namespace holdfast::ports {

using namespace etcd;

std::string EtcdPortTest::fresh_prefix() {
  static int tests = 0;
  return "test" + std::to_string(++tests) + '/';
}

LeaseId EtcdPortTest::fresh_lease() {
  static std::mt19937_64 chance{1};
  return {static_cast<std::int64_t>(chance() >> 2) + 1};
}

Result<TxnAnswer> EtcdPortTest::commit(Txn txn) {
  const auto answer = std::make_shared<std::optional<Result<TxnAnswer>>>();
  bed_->on_env([&] {
    bed_->port().commit(share(std::move(txn)),
                        bed_->env().now() + kEtcdBound,
                        [answer](Result<TxnAnswer> given) { answer->emplace(std::move(given)); });
    EXPECT_FALSE(*answer) << "answered inside the call";
  });
  if (bed_->go_on_until([&] { return answer->has_value(); })) return std::move(**answer);
  return Unexpected{Error{Errc::internal, "no answer"}};
}

TxnAnswer EtcdPortTest::run(Txn txn) {
  auto answer = commit(std::move(txn));
  if (answer) return *std::move(answer);
  ADD_FAILURE() << answer.error().message;
  return {};
}

Revision EtcdPortTest::put(const std::string& name, const std::string& value, LeaseId lease) {
  return run({.then = {Put{key(name), value, lease}}}).header.revision;
}

Revision EtcdPortTest::erase(const std::string& name) {
  return run({.then = {Erase{{key(name)}}}}).header.revision;
}

std::optional<KeyValue> EtcdPortTest::get(const std::string& name) {
  const TxnAnswer answer = run({.then = {Range{.keys = {key(name)}}}});
  if (answer.answers.empty() || answer.answers[0].found.empty()) return std::nullopt;
  return answer.answers[0].found[0];
}

std::vector<std::string> EtcdPortTest::names(Range range) {
  const TxnAnswer answer = run({.then = {std::move(range)}});
  std::vector<std::string> names;
  if (answer.answers.empty()) return names;
  for (const KeyValue& found : answer.answers[0].found) {
    names.push_back(found.key.substr(prefix_.size()));
  }
  return names;
}

LeaseAnswer EtcdPortTest::await(const std::shared_ptr<std::optional<Result<LeaseAnswer>>>& answer) {
  EXPECT_TRUE(bed_->go_on_until([&] { return answer->has_value(); })) << "no answer";
  if (*answer && **answer) return ***answer;
  if (*answer) ADD_FAILURE() << (*answer)->error().message;
  return {};
}

LeaseAnswer EtcdPortTest::grant(LeaseId lease, Seconds ttl) {
  const auto answer = std::make_shared<std::optional<Result<LeaseAnswer>>>();
  bed_->on_env([&] {
    bed_->port().grant(
        lease, ttl, bed_->env().now() + kEtcdBound, [answer](Result<LeaseAnswer> given) {
          answer->emplace(std::move(given));
        });
  });
  return await(answer);
}

LeaseAnswer EtcdPortTest::ask(LeaseCall call, LeaseId lease) {
  const auto answer = std::make_shared<std::optional<Result<LeaseAnswer>>>();
  bed_->on_env([&] {
    (bed_->port().*call)(
        lease, bed_->env().now() + kEtcdBound, [answer](Result<LeaseAnswer> given) {
          answer->emplace(std::move(given));
        });
  });
  return await(answer);
}

LeaseAnswer EtcdPortTest::keep_alive(LeaseId lease) { return ask(&EtcdPort::keep_alive, lease); }
LeaseAnswer EtcdPortTest::revoke(LeaseId lease) { return ask(&EtcdPort::revoke, lease); }
LeaseAnswer EtcdPortTest::look_up(LeaseId lease) { return ask(&EtcdPort::look_up, lease); }

WatchId EtcdPortTest::watch(EtcdEar& ear, Watch watch) {
  WatchId id;
  bed_->on_env([&] {
    id = bed_->port().watch(std::move(watch), ear.on_watch());
    EXPECT_TRUE(ear.news().empty()) << "called back inside the call";
  });
  return id;
}

WatchNews EtcdPortTest::next(EtcdEar& ear) {
  EXPECT_TRUE(bed_->go_on_until([&] { return !ear.news().empty(); })) << "no news";
  WatchNews news;
  bed_->on_env([&] {
    if (ear.news().empty()) return;
    news = std::move(ear.news().front());
    ear.news().pop_front();
  });
  return news;
}

std::string EtcdPortTest::next_change(EtcdEar& ear) {
  const WatchNews news = next(ear);
  EXPECT_EQ(news.kind, WatchNews::Kind::changes);
  EXPECT_EQ(news.changes.size(), 1U);
  return news.changes.empty() ? "nothing" : shown(news.changes[0]);
}

std::string EtcdPortTest::shown(const Change& change) const {
  const std::string name =
      change.entry.key.substr(std::min(prefix_.size(), change.entry.key.size()));
  return change.kind == Change::Kind::put ? "put " + name + '=' + change.entry.value
                                          : "erased " + name;
}

}  // namespace holdfast::ports
