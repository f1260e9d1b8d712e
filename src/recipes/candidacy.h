// Candidacy: queues for the lock of an election, and gives it back while another is named.
//
// Thread safety: any thread. Lifetime: keeps itself alive until its answer is given.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "holdfast/election.h"

namespace holdfast::recipes {

/// What a candidate asks for, checked and with texts of its own.
struct CandidacyTerms {
  std::string name;
  /// As core::next_leader_name().
  std::string next_name;
  std::string id;
  std::string label;
  /// Its label is the one above.
  AcquireOptions acquire;
};

/// invalid_argument: the name, the id or the value. An empty id is made up.
Result<CandidacyTerms> check_candidacy(std::string_view name,
                                       std::string_view id,
                                       std::string_view value,
                                       const AcquireOptions& acquire);

class Candidacy : public std::enable_shared_from_this<Candidacy> {
 public:
  using Done = std::function<void(Result<Lease, AcquireError>)>;

  /// `done` is called once, on a thread of the engine's or before this returns; it must not block.
  static void start(Client client, CandidacyTerms terms, std::stop_token stop, Done done);

  Candidacy(Client client, CandidacyTerms terms, std::stop_token stop, Done done);

 private:
  void queue();
  void look_for_a_name();
  void judge(const LockInfo& next);
  void give_way();
  void accept();
  void finish(Result<Lease, AcquireError> result);

  Client client_;
  CandidacyTerms terms_;
  std::stop_token stop_;
  Done done_;
  std::shared_ptr<Lease> lease_;
  std::shared_ptr<LockObservation> next_;
  std::shared_ptr<LockObservation> lock_;
};

/// As Candidacy::start(), and waits. Not to be called where nothing may block.
Result<Lease, AcquireError> acquire_as_candidate(const Client& client,
                                                 CandidacyTerms terms,
                                                 std::stop_token stop);

}  // namespace holdfast::recipes
