#include "engines/zookeeper/driver/client_calls.h"

#include <zookeeper/zookeeper.h>

#include <utility>
#include <vector>

#include "engines/zookeeper/driver/failure.h"

namespace holdfast::zookeeper {

/// Lives until the client has filled it.
struct MultiRoom {
  std::vector<std::string> paths;
  std::vector<std::string> created;
  std::vector<Stat> stats;
  std::vector<zoo_op_result_t> results;
};

Sending::Sending(Answered& owner_in) : owner{owner_in} {}
Sending::~Sending() = default;

namespace {

/// What a server appends to the name of a sequential node.
constexpr std::size_t kNumberRoom = 16;

NodeStat stat_of(const Stat& stat) {
  return {.created = stat.czxid,
          .modified = stat.mzxid,
          .children_modified = stat.pzxid,
          .modified_at = Millis{stat.mtime},
          .version = stat.version,
          .children_version = stat.cversion,
          .children = stat.numChildren,
          .data_size = stat.dataLength,
          .owner = {stat.ephemeralOwner}};
}

Sending& sending_of(const void* data) {
  return *const_cast<Sending*>(static_cast<const Sending*>(data));
}

void complete(const void* data, int code, Answer answer) {
  Sending& sending = sending_of(data);
  sending.owner.on_completion(sending, code, std::move(answer));
}

void on_created(int code, const char* path, const Stat* stat, const void* data) {
  Answer answer;
  if (path != nullptr) answer.path = path;
  if (stat != nullptr) answer.stat = stat_of(*stat);
  complete(data, code, std::move(answer));
}

void on_done(int code, const void* data) { complete(data, code, {}); }

void on_synced(int code, const char*, const void* data) { complete(data, code, {}); }

void on_stat(int code, const Stat* stat, const void* data) {
  Answer answer;
  if (stat != nullptr) answer.stat = stat_of(*stat);
  complete(data, code, std::move(answer));
}

void on_data(int code, const char* bytes, int size, const Stat* stat, const void* data) {
  Answer answer;
  if (bytes != nullptr && size > 0) answer.data.assign(bytes, static_cast<std::size_t>(size));
  if (stat != nullptr) answer.stat = stat_of(*stat);
  complete(data, code, std::move(answer));
}

void on_children(int code, const String_vector* names, const Stat* stat, const void* data) {
  Answer answer;
  for (int i = 0; names != nullptr && i < names->count; ++i) {
    answer.children.emplace_back(names->data[i]);
  }
  if (stat != nullptr) answer.stat = stat_of(*stat);
  complete(data, code, std::move(answer));
}

Answer answer_of_step(const MultiRoom& room, std::size_t at, int code) {
  const int step_code = room.results[at].err;
  Answer answer;
  // A step that went well is taken back with the others.
  const bool is_undone = code != ZOK && (step_code == ZOK || step_code == ZRUNTIMEINCONSISTENCY);
  answer.verdict =
      is_undone ? Verdict::not_done : verdict_of(step_code).value_or(Verdict::not_done);
  if (answer.verdict != Verdict::done) return answer;
  answer.path = room.created[at].c_str();
  answer.stat = stat_of(room.stats[at]);
  return answer;
}

void on_multi(int code, const void* data) {
  Answer answer;
  const MultiRoom& room = *sending_of(data).room;
  for (std::size_t at = 0; at < room.results.size(); ++at) {
    answer.steps.push_back(answer_of_step(room, at, code));
  }
  complete(data, code, std::move(answer));
}

/// What only tells that a watch is gone.
struct Unwatching {
  Answered& owner;
  std::string path;
};

void on_unwatched(int code, const void* data) {
  const std::unique_ptr<const Unwatching> unwatching{static_cast<const Unwatching*>(data)};
  if (code != ZOK) unwatching->owner.on_unwatch_failed(unwatching->path);
}

void on_watch(zhandle_t*, int type, int, const char* path, void* context) {
  Answered& owner = *static_cast<Answered*>(context);
  using Change = SessionEvent::Change;
  if (type == ZOO_CREATED_EVENT) return owner.on_change(Change::created, path);
  if (type == ZOO_DELETED_EVENT) return owner.on_change(Change::erased, path);
  if (type == ZOO_CHANGED_EVENT) return owner.on_change(Change::data, path);
  if (type == ZOO_CHILD_EVENT) return owner.on_change(Change::children, path);
}

int flags_of(Create::Kind kind) {
  switch (kind) {
    case Create::Kind::persistent:
      return ZOO_PERSISTENT;
    case Create::Kind::ephemeral:
      return ZOO_EPHEMERAL;
    case Create::Kind::persistent_sequential:
      return ZOO_PERSISTENT_SEQUENTIAL;
    case Create::Kind::ephemeral_sequential:
      return ZOO_EPHEMERAL_SEQUENTIAL;
    case Create::Kind::container:
      return ZOO_CONTAINER;
  }
  return ZOO_PERSISTENT;
}

/// Hands one kind of request over.
struct Caller {
  zhandle_t* client;
  Sending& sending;
  const ZookeeperTarget& target;

  std::string at(const std::string& path) const { return below(target.chroot, path); }
  const ACL_vector* rights() const {
    return target.acl == Acl::creator ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
  }
  watcher_fn watcher(Watching watching) const {
    return watching == Watching::yes && !sending.watch_dropped ? &on_watch : nullptr;
  }

  int operator()(const Create& create) const {
    return zoo_acreate2(client,
                        at(create.path).c_str(),
                        create.data.data(),
                        static_cast<int>(create.data.size()),
                        rights(),
                        flags_of(create.kind),
                        &on_created,
                        &sending);
  }
  int operator()(const Erase& erase) const {
    return zoo_adelete(client, at(erase.path).c_str(), erase.version, &on_done, &sending);
  }
  int operator()(const Write& write) const {
    const int size = static_cast<int>(write.data.size());
    return zoo_aset(
        client, at(write.path).c_str(), write.data.data(), size, write.version, &on_stat, &sending);
  }
  int operator()(const Read& read) const {
    return zoo_awget(
        client, at(read.path).c_str(), watcher(read.watching), &sending.owner, &on_data, &sending);
  }
  int operator()(const Exists& exists) const {
    return zoo_awexists(client,
                        at(exists.path).c_str(),
                        watcher(exists.watching),
                        &sending.owner,
                        &on_stat,
                        &sending);
  }
  int operator()(const List& list) const {
    return zoo_awget_children2(client,
                               at(list.path).c_str(),
                               watcher(list.watching),
                               &sending.owner,
                               &on_children,
                               &sending);
  }
  int operator()(const Sync& sync) const {
    return zoo_async(client, at(sync.path).c_str(), &on_synced, &sending);
  }
  int operator()(const Multi& multi) const;
};

/// Adds one step to what the client is asked for.
struct StepInit {
  const Caller& caller;
  MultiRoom& room;
  zoo_op_t& op;
  std::size_t at;

  const char* path() const { return room.paths[at].c_str(); }

  void operator()(const Create& create) const {
    std::string& created = room.created[at];
    created.assign(room.paths[at].size() + kNumberRoom, '\0');
    zoo_create_op_init(&op,
                       path(),
                       create.data.data(),
                       static_cast<int>(create.data.size()),
                       caller.rights(),
                       flags_of(create.kind),
                       created.data(),
                       static_cast<int>(created.size()));
  }
  void operator()(const Erase& erase) const { zoo_delete_op_init(&op, path(), erase.version); }
  void operator()(const Write& write) const {
    const int size = static_cast<int>(write.data.size());
    zoo_set_op_init(&op, path(), write.data.data(), size, write.version, &room.stats[at]);
  }
  void operator()(const Check& check) const { zoo_check_op_init(&op, path(), check.version); }
};

int Caller::operator()(const Multi& multi) const {
  const std::size_t count = multi.steps.size();
  sending.room = std::make_unique<MultiRoom>();
  MultiRoom& room = *sending.room;
  room.created.resize(count);
  room.stats.resize(count);
  room.results.resize(count);
  for (const Multi::Step& step : multi.steps) {
    const auto full = [this](const auto& one) { return at(one.path); };
    room.paths.push_back(std::visit(full, step));
  }
  std::vector<zoo_op_t> ops(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::visit(StepInit{*this, room, ops[i], i}, multi.steps[i]);
  }
  return zoo_amulti(
      client, static_cast<int>(count), ops.data(), room.results.data(), &on_multi, &sending);
}

}  // namespace

int hand_over(_zhandle* client, Sending& sending, const ZookeeperTarget& target) {
  return std::visit(Caller{client, sending, target}, *sending.request);
}

int hand_over_unwatch(_zhandle* client, const std::string& path, Answered& owner) {
  auto unwatching = std::make_unique<Unwatching>(Unwatching{owner, path});
  // The client declares a pointer to a function pointer, and uses it as a function pointer.
  auto* const completion = reinterpret_cast<void_completion_t*>(&on_unwatched);
  const int code = zoo_aremove_all_watches(
      client, path.c_str(), ZWATCHTYPE_ANY, /*local=*/0, completion, unwatching.get());
  if (code == ZOK) unwatching.release();
  return code;
}

void forget_watches(_zhandle* client, const std::string& path) {
  zoo_aremove_all_watches(client, path.c_str(), ZWATCHTYPE_ANY, /*local=*/1, nullptr, nullptr);
}

std::string below(const std::string& chroot, const std::string& path) {
  if (chroot.empty()) return path;
  return path == "/" ? chroot : chroot + path;
}

std::string without(const std::string& chroot, std::string path) {
  if (chroot.empty() || !path.starts_with(chroot)) return path;
  path.erase(0, chroot.size());
  return path.empty() ? "/" : path;
}

}  // namespace holdfast::zookeeper
