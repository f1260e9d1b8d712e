#include "engines/redis/driver/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <string>
#include <utility>

#include "base/invalid.h"

namespace holdfast::redis {
namespace {

const std::string& name_to_check(const RedisTarget& target) {
  return target.tls->server_name.empty() ? target.host : target.tls->server_name;
}

Unexpected<Error> unusable(const std::string& what,
                           const std::string& file,
                           const boost::system::error_code& why) {
  return invalid("the " + what + " file " + file + " cannot be used: " + why.message(),
                 "name a readable file in PEM format");
}

Result<void> load(TlsContext& context, const TlsSettings& settings) {
  boost::system::error_code failed;
  if (settings.ca_file.empty()) {
    context.set_default_verify_paths(failed);
  } else {
    context.load_verify_file(settings.ca_file, failed);
  }
  if (failed) return unusable("CA", settings.ca_file, failed);
  if (settings.cert_file.empty()) return {};
  context.use_certificate_chain_file(settings.cert_file, failed);
  if (failed) return unusable("certificate", settings.cert_file, failed);
  context.use_private_key_file(settings.key_file, TlsContext::pem, failed);
  if (failed) return unusable("key", settings.key_file, failed);
  return {};
}

bool is_alert(const boost::system::error_code& said) {
  return said.category() == boost::asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(said.value())) >= SSL_AD_REASON_OFFSET;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls_context(const RedisTarget& target) {
  if (!target.tls) return std::shared_ptr<TlsContext>{};
  auto context = std::make_shared<TlsContext>(TlsContext::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  boost::system::error_code failed;
  context->set_verify_mode(boost::asio::ssl::verify_peer, failed);
  if (auto loaded = load(*context, *target.tls); !loaded) return Unexpected{loaded.error()};
  return context;
}

Result<void> expect_server(SSL* session, const RedisTarget& target) {
  const std::string& name = name_to_check(target);
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  const bool accepted =
      not_an_address ? SSL_set1_host(session, name.c_str()) == 1 &&
                           SSL_set_tlsext_host_name(session, name.c_str()) == 1
                     : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str()) == 1;
  if (!accepted) return invalid("the TLS server name is not a host name", "correct servername=");
  return {};
}

Failure tls_failure(SSL* session,
                    const RedisTarget& target,
                    const boost::system::error_code& said) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict != X509_V_OK) {
    const std::string cause = X509_verify_cert_error_string(verdict);
    const std::string what =
        "its certificate is not accepted for '" + name_to_check(target) + "': " + cause;
    return {error_at(target, Errc::denied, what), Failure::Cause::lasting};
  }
  if (is_alert(said)) {
    const std::string what = "the server refuses the TLS connection: " + said.message();
    return {error_at(target, Errc::denied, what), Failure::Cause::lasting};
  }
  if (said.category() == boost::asio::error::get_ssl_category()) {
    const std::string what = "does not speak TLS: " + said.message();
    return {error_at(target, Errc::unavailable, what), Failure::Cause::lasting};
  }
  return passing_failure(target, said);
}

}  // namespace holdfast::redis
