// The bed over the simulator's model server.

#include <deque>

#include "sim/redis/redis_node.h"
#include "sim/world/scheduler.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {
namespace {

using namespace std::chrono_literals;

class ModelListener final : public Listener {
 public:
  ModelListener(sim::PubSub& channels, const std::string& channel) : channels_{channels} {
    id_ = channels_.subscribe(channel, [this](std::string_view, std::string_view message) {
      messages_.emplace_back(message);
    });
  }
  ~ModelListener() override { channels_.unsubscribe(id_); }
  ModelListener(const ModelListener&) = delete;
  ModelListener& operator=(const ModelListener&) = delete;

  std::string next() override {
    if (messages_.empty()) return {};
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  sim::PubSub& channels_;
  sim::PubSub::Id id_{0};
  std::deque<std::string> messages_;
};

class ModelBed final : public RedisBed {
 public:
  Result<Reply> run(const redis::ScriptCall& call) override {
    if (!node_.up()) return Unexpected{Error{Errc::unavailable, "connection refused"}};
    return node_.eval(call);
  }
  Reply command(const std::vector<std::string>& words) override { return node_.command(words); }
  void plant_list(const std::string& key) override { node_.model().plant_foreign_type(key); }
  std::unique_ptr<Listener> listen(const std::string& channel) override {
    return std::make_unique<ModelListener>(node_.model().channels(), channel);
  }
  void let_time_pass() override { scheduler_.advance(1ms); }
  void stop() override { node_.stop(); }

 private:
  sim::Scheduler scheduler_;
  sim::RedisNode node_{scheduler_};
};

}  // namespace

std::unique_ptr<RedisBed> make_model_bed() { return std::make_unique<ModelBed>(); }

}  // namespace holdfast::ports
