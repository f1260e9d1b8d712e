// Random transactions and leases from a seed on model and server, which must answer alike.
//
// The server is shared, so that its revisions are others than the model's: what changed at the same
// time on both has the same place in a list of pairs.

#include <random>
#include <sstream>

#include "sim/etcd/etcd_model.h"
#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;

constexpr std::uint64_t kSequences = 60;
constexpr int kStepsPerSequence = 25;

/// The same on both: numbers that are revisions differ.
struct Twins {
  Txn model;
  Txn server;
};

class EtcdDifferenceTest : public EtcdPortTest {
 protected:
  std::size_t below(std::size_t bound) { return chance_() % bound; }

  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  std::string any_key() {
    return key("s" + std::to_string(sequence_) + '/' + one_of({"a", "a/1", "a/2", "b"}));
  }
  KeyRange any_keys() {
    std::string begin = any_key();
    if (below(2) == 0) return {.key = std::move(begin)};
    return starting_with(std::move(begin));
  }
  const std::pair<Revision, Revision>& any_revision() {
    return revisions_[below(revisions_.size())];
  }

  void add_compare(Twins& twins) {
    using What = Compare::What;
    Compare compare{
        .key = any_key(),
        .what = one_of({What::created, What::modified, What::version, What::value}),
        .is = one_of(
            {Compare::Is::equal, Compare::Is::greater, Compare::Is::less, Compare::Is::not_equal}),
        .number = static_cast<std::int64_t>(below(3)),
        .value = one_of({"", "x", "y"})};
    const bool of_revision = compare.what == What::created || compare.what == What::modified;
    const auto [model, server] = any_revision();
    if (of_revision) compare.number = model;
    twins.model.when.push_back(compare);
    if (of_revision) compare.number = server;
    twins.server.when.push_back(compare);
  }

  void add_operation(std::vector<Operation>& model, std::vector<Operation>& server) {
    const std::size_t kind = below(4);
    if (kind == 0) {
      model.emplace_back(Erase{any_keys()});
    } else if (kind == 1) {
      model.emplace_back(
          Put{any_key(), one_of({"", "x", "y"}), one_of({LeaseId{}, leases_[0], leases_[1]})});
    } else {
      model.emplace_back(
          Range{.keys = any_keys(),
                .order = one_of(
                    {Range::Order::by_key, Range::Order::oldest_first, Range::Order::newest_first}),
                .part = one_of({Range::Part::all, Range::Part::keys_only, Range::Part::count_only}),
                .limit = static_cast<std::int64_t>(below(3))});
    }
    server.push_back(model.back());
    if (kind != 3) return;
    const auto [on_model, on_server] = any_revision();
    std::get<Range>(model.back()).created_by = on_model;
    std::get<Range>(server.back()).created_by = on_server;
  }

  Twins any_txn() {
    Twins twins;
    for (std::size_t i = below(3); i > 0; --i) add_compare(twins);
    for (std::size_t i = below(4); i > 0; --i) add_operation(twins.model.then, twins.server.then);
    for (std::size_t i = below(3); i > 0; --i) {
      add_operation(twins.model.otherwise, twins.server.otherwise);
    }
    return twins;
  }

  std::string revision_of(Revision revision, bool of_model) {
    for (std::size_t i = 0; i < revisions_.size(); ++i) {
      if ((of_model ? revisions_[i].first : revisions_[i].second) == revision) {
        return '#' + std::to_string(i);
      }
    }
    return "unknown " + std::to_string(revision);
  }

  std::string shown(const Result<TxnAnswer>& answer, bool of_model) {
    if (!answer) return "error " + std::string{to_string(answer.error().code)};
    std::ostringstream text;
    text << (answer->held ? "held" : "not held");
    for (const OperationAnswer& one : answer->answers) {
      text << " | " << one.count;
      for (const KeyValue& entry : one.found) {
        text << ' ' << entry.key << '=' << entry.value << " created "
             << revision_of(entry.created, of_model) << " modified "
             << revision_of(entry.modified, of_model) << " version " << entry.version << " lease "
             << entry.lease.number;
      }
    }
    return text.str();
  }

  void compare_txn() {
    const Twins twins = any_txn();
    const auto model = model_.commit(twins.model);
    const auto server = commit(twins.server);
    if (model && server) note(model->header.revision, server->header.revision);
    EXPECT_EQ(shown(model, true), shown(server, false)) << "sequence " << sequence_;
  }

  void compare_lease() {
    LeaseId& lease = leases_[below(2)];
    if (below(2) == 0) {
      EXPECT_EQ(model_.keep_alive(lease, {})->ttl, keep_alive(lease).ttl);
      return;
    }
    const auto model = model_.revoke(lease);
    const LeaseAnswer server = revoke(lease);
    EXPECT_EQ(model->ttl > Seconds{0}, server.ttl > Seconds{0});
    note(model->header.revision, server.header.revision);
    if (below(2) == 0) begin_lease(lease);
  }

  void begin_lease(LeaseId& lease) {
    lease = fresh_lease();
    EXPECT_EQ(model_.grant(lease, Seconds{600}, {})->ttl, grant(lease, Seconds{600}).ttl);
  }

  /// Both are there after the same change.
  void note(Revision model, Revision server) {
    if (revisions_.back().first == model) return;
    revisions_.emplace_back(model, server);
  }

  void run_sequence() {
    for (LeaseId& lease : leases_) begin_lease(lease);
    revisions_.assign(1, {model_.keys().revision(), run({}).header.revision});
    for (int step = 0; step < kStepsPerSequence && !HasFailure(); ++step) {
      if (below(5) == 0) {
        compare_lease();
      } else {
        compare_txn();
      }
    }
    for (const LeaseId lease : leases_) {
      static_cast<void>(model_.revoke(lease));
      revoke(lease);
    }
  }

  std::mt19937_64 chance_{6};
  std::uint64_t sequence_{0};
  sim::EtcdModel model_;
  std::array<LeaseId, 2> leases_{};
  std::vector<std::pair<Revision, Revision>> revisions_;
};

TEST_P(EtcdDifferenceTest, ModelAndServerAnswerAlike) {
  for (; sequence_ < kSequences && !HasFailure(); ++sequence_) run_sequence();
}

INSTANTIATE_TEST_SUITE_P(Server,
                         EtcdDifferenceTest,
                         testing::Values(&make_etcd_server_bed),
                         [](const auto&) { return std::string{"Server"}; });

}  // namespace
}  // namespace holdfast::ports
