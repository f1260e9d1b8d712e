#include "engines/etcd/driver/channel.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/invalid.h"
#include "base/signals_blocked.h"

namespace holdfast::etcd {
namespace {

constexpr int kPingAnswerMs = 5'000;

int millis(Duration duration) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

Unexpected<Error> unusable(const std::string& what, const std::string& file, const char* why) {
  return invalid("the " + what + " file " + file + " cannot be used: " + why,
                 "name a readable file in PEM format");
}

enum class Pem : std::uint8_t { certificate, key };

bool is_pem(const std::string& text, Pem kind) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio{
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
  if (kind == Pem::key) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
        PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
    return key != nullptr;
  }
  const std::unique_ptr<X509, decltype(&X509_free)> certificate{
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free};
  return certificate != nullptr;
}

Result<std::string> read_pem(const std::string& what, const std::string& name, Pem kind) {
  if (name.empty()) return std::string{};
  std::ifstream file{name, std::ios::binary};
  if (!file) return unusable(what, name, std::generic_category().message(errno).c_str());
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!is_pem(text, kind)) return unusable(what, name, "there is nothing of the kind in it");
  return text;
}

/// gRPC writes about connections that fail to standard error; errors say it all. Left as it is for
/// a program that uses gRPC itself, or asks for it.
void keep_quiet() {
  static const bool done = [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr && grpc_is_initialized() == 0) {
      gpr_set_log_function([](gpr_log_func_args*) {});
    }
    return true;
  }();
  static_cast<void>(done);
}

/// The system's authorities, in one file. gRPC alone would look for a list of its own.
std::string system_authorities() {
  for (const char* name : {"/etc/ssl/certs/ca-certificates.crt",
                           "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/cert.pem"}) {
    std::ifstream file{name, std::ios::binary};
    if (file) return {std::istreambuf_iterator<char>{file}, {}};
  }
  return {};
}

}  // namespace

Result<Credentials> make_credentials(const EtcdTarget& target) {
  keep_quiet();
  if (!target.tls) return grpc::InsecureChannelCredentials();
  auto ca = read_pem("CA", target.tls->ca_file, Pem::certificate);
  if (!ca) return Unexpected{std::move(ca).error()};
  auto certificate = read_pem("certificate", target.tls->cert_file, Pem::certificate);
  if (!certificate) return Unexpected{std::move(certificate).error()};
  auto key = read_pem("key", target.tls->key_file, Pem::key);
  if (!key) return Unexpected{std::move(key).error()};
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca->empty() ? system_authorities() : *std::move(ca);
  options.pem_cert_chain = *std::move(certificate);
  options.pem_private_key = *std::move(key);
  return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const EtcdTarget& target,
                                            const Credentials& credentials,
                                            Duration ping_every) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, millis(ping_every));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingAnswerMs);
  // A watch that hears nothing is no data, and must notice all the same that its server is gone.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // How long a connection may take, and how soon the next attempt may come: Route paces them.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, millis(target.connect_timeout));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Nothing may be repeated behind our back.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  if (target.tls && !target.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(target.tls->server_name);
  }
  // gRPC starts threads of its own with the first channel.
  const SignalsBlocked blocked;
  return grpc::CreateCustomChannel(endpoint.text(), credentials, arguments);
}

}  // namespace holdfast::etcd
