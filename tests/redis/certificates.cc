#include "tests/redis/certificates.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>

#include "base/assert.h"

namespace holdfast::redis {
namespace {

std::string make_directory() {
  std::string name = std::filesystem::temp_directory_path() / "holdfast-certificates-XXXXXX";
  HOLDFAST_ASSERT(mkdtemp(name.data()) != nullptr);
  return name;
}

template <class Write>
void write_file(const std::string& path, Write write) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  HOLDFAST_ASSERT(file != nullptr);
  HOLDFAST_ASSERT(write(file) == 1);
  std::fclose(file);
}

void write_certificate(const std::string& path, X509* certificate) {
  write_file(path, [=](std::FILE* file) { return PEM_write_X509(file, certificate); });
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  HOLDFAST_ASSERT(extension != nullptr);
  HOLDFAST_ASSERT(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Authority::Authority() : directory_{make_directory()}, key_{EVP_EC_gen("P-256")} {
  certificate_ = make("authority", key_.get());
  add_extension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  HOLDFAST_ASSERT(
      X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get())) == 1);
  HOLDFAST_ASSERT(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
  write_certificate(ca_file(), certificate_.get());
}

Authority::~Authority() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Authority::Certificate Authority::make(const std::string& who, EVP_PKEY* key) {
  Certificate certificate{X509_new()};
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial_++);
  // An hour back and a day ahead, whatever the clocks of server and client say.
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_set_pubkey(certificate.get(), key);
  const auto* const name = reinterpret_cast<const unsigned char*>(who.c_str());
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8, name, -1, -1, 0);
  return certificate;
}

void Authority::vouch_for(const std::string& who, const std::string& names) {
  const Key key{EVP_EC_gen("P-256")};
  const Certificate certificate = make(who, key.get());
  add_extension(certificate.get(), NID_subject_alt_name, names);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  HOLDFAST_ASSERT(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0);
  write_certificate(cert_file(who), certificate.get());
  write_file(key_file(who), [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace holdfast::redis
