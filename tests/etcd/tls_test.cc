// TLS and mutual TLS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/etcd/driver_bed.h"
#include "tests/redis/certificates.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class EtcdTlsTest : public testing::Test {
 protected:
  EtcdTlsTest() {
    authority_.vouch_for("server", "IP:127.0.0.1,DNS:localhost");
    authority_.vouch_for("client", "DNS:client");
    authority_.vouch_for("elsewhere", "DNS:elsewhere");
    stranger_.vouch_for("client", "DNS:client");
  }

  EtcdCluster::Shape shape(const std::string& who, EtcdTls::Clients clients) const {
    return {.settings = {.tls = {.ca_file = authority_.ca_file(),
                                 .cert_file = authority_.cert_file(who),
                                 .key_file = authority_.key_file(who),
                                 .clients = clients}}};
  }
  EtcdTarget trusting(const EtcdCluster& cluster, const redis::Authority& authority) const {
    EtcdTarget target = target_of(cluster);
    target.tls = TlsSettings{.ca_file = authority.ca_file()};
    return target;
  }
  static EtcdTarget showing(EtcdTarget target, const redis::Authority& authority) {
    target.tls->cert_file = authority.cert_file("client");
    target.tls->key_file = authority.key_file("client");
    return target;
  }
  static void expect_error(const EtcdTarget& target, Errc code, const std::string& cause) {
    DriverBed bed{target};
    const Error error = error_of(get(bed.put("k", "v", 1500ms)));
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_THAT(error.message, HasSubstr("etcd " + target.endpoints[0].text() + ": "));
    EXPECT_THAT(error.message, HasSubstr(cause));
  }

  redis::Authority authority_;
  redis::Authority stranger_;
};

TEST_F(EtcdTlsTest, TalksToAServerWithAGoodCertificate) {
  const EtcdCluster cluster{shape("server", EtcdTls::Clients::anyone)};
  DriverBed bed{trusting(cluster, authority_)};
  const auto answer = get(bed.put("k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

TEST_F(EtcdTlsTest, ShowsItsOwnCertificate) {
  const EtcdCluster cluster{shape("server", EtcdTls::Clients::with_certificate)};
  DriverBed bed{showing(trusting(cluster, authority_), authority_)};
  const auto answer = get(bed.put("k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

TEST_F(EtcdTlsTest, ACertificateSaysWhoWeAre) {
  EtcdCluster cluster{shape("server", EtcdTls::Clients::with_certificate)};
  cluster.enable_auth("secret", "client", "word", "hf/");
  DriverBed bed{showing(trusting(cluster, authority_), authority_)};
  const auto answer = get(bed.put("hf/k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
  EXPECT_EQ(error_of(get(bed.put("other/k", "v"))).code, Errc::denied);
}

TEST_F(EtcdTlsTest, AStrangersServerIsDenied) {
  const EtcdCluster cluster{shape("server", EtcdTls::Clients::anyone)};
  expect_error(
      trusting(cluster, stranger_), Errc::denied, "no TLS connection: Ssl handshake failed");
}

TEST_F(EtcdTlsTest, AServerOfAnotherNameIsDenied) {
  const EtcdCluster cluster{shape("elsewhere", EtcdTls::Clients::anyone)};
  expect_error(trusting(cluster, authority_), Errc::denied, "127.0.0.1 is not in peer certificate");
  EtcdTarget target = trusting(cluster, authority_);
  target.tls->server_name = "elsewhere";
  DriverBed bed{target};
  const auto answer = get(bed.put("k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

TEST_F(EtcdTlsTest, AClientWithoutAGoodCertificateIsNotLetIn) {
  const EtcdCluster cluster{shape("server", EtcdTls::Clients::with_certificate)};
  // With TLS 1.3 the server ends the connection after the handshake.
  for (const EtcdTarget& target :
       {trusting(cluster, authority_), showing(trusting(cluster, authority_), stranger_)}) {
    expect_error(target, Errc::unavailable, "does the server want another certificate?");
  }
}

TEST_F(EtcdTlsTest, PlainAndEncryptedDoNotMeet) {
  const EtcdCluster encrypted{shape("server", EtcdTls::Clients::anyone)};
  const EtcdCluster plain;
  expect_error(target_of(encrypted), Errc::unavailable, "does one side alone use TLS");
  expect_error(trusting(plain, authority_), Errc::unavailable, "does one side alone use TLS");
}

TEST_F(EtcdTlsTest, FilesThatCannotBeUsedAreNamed) {
  const std::string junk = authority_.cert_file("junk");
  std::ofstream{junk} << "junk\n";
  for (const std::string& file : {junk, std::string{"/no/such/file"}}) {
    EtcdTarget target = target_at(1);
    target.tls = TlsSettings{.ca_file = file};
    const auto env = *runtime::AsioEnv::create();
    const Error error = error_of(EtcdDriver::create(*env, target));
    EXPECT_EQ(error.code, Errc::invalid_argument);
    EXPECT_THAT(error.message, HasSubstr("the CA file " + file));
  }
}

}  // namespace
}  // namespace holdfast::etcd
