// Certificates made for one test: an authority, and who it vouches for.

#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace holdfast::redis {

/// An authority in a directory of its own. Thread safety: none.
class Authority {
 public:
  Authority();
  /// Removes the files.
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  std::string ca_file() const { return file("ca.crt"); }

  /// Writes `<who>.crt` and `<who>.key`, good for `names` as OpenSSL spells them: "DNS:localhost".
  void vouch_for(const std::string& who, const std::string& names);
  std::string cert_file(const std::string& who) const { return file(who + ".crt"); }
  std::string key_file(const std::string& who) const { return file(who + ".key"); }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  Certificate make(const std::string& who, EVP_PKEY* key);
  std::string file(const std::string& name) const { return directory_ + '/' + name; }

  std::string directory_;
  Key key_;
  Certificate certificate_;
  long serial_{1};
};

}  // namespace holdfast::redis
