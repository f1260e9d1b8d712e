// etcd's methods and messages, as they are on the wire.

#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#include "engines/etcd/driver/wire.pb.h"
#pragma GCC diagnostic pop

#include "engines/etcd/etcd_messages.h"

namespace holdfast::etcd {

inline constexpr const char* kTxnMethod = "/etcdserverpb.KV/Txn";
inline constexpr const char* kGrantMethod = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr const char* kRevokeMethod = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr const char* kTimeToLiveMethod = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr const char* kKeepAliveMethod = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr const char* kWatchMethod = "/etcdserverpb.Watch/Watch";
inline constexpr const char* kAuthenticateMethod = "/etcdserverpb.Auth/Authenticate";
inline constexpr const char* kStatusMethod = "/etcdserverpb.Maintenance/Status";
inline constexpr const char* kAlarmMethod = "/etcdserverpb.Maintenance/Alarm";
inline constexpr const char* kMemberListMethod = "/etcdserverpb.Cluster/MemberList";

wire::TxnRequest to_wire(const Txn& txn);
wire::WatchCreateRequest to_wire(const Watch& watch);

Header from_wire(const wire::ResponseHeader& header);
/// Takes the keys and values out of it.
KeyValue from_wire(wire::KeyValue& entry);
TxnAnswer from_wire(wire::TxnResponse& response);
Change from_wire(wire::Event& event);

}  // namespace holdfast::etcd
