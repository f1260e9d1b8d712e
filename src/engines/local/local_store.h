// The store of the local engine: SQLite in the engine's directory, each operation one transaction.
//
// Thread safety: any thread. Threads that write take turns; reading never waits for writing.

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/dispatcher.h"
#include "core/store_backend.h"
#include "engines/local/open_stores.h"
#include "engines/local/store_file.h"

namespace holdfast::local {

class LocalStore final : public StoreBackend, private OpenStores::Member {
 public:
  /// corrupt, denied, io_error, no_space, unavailable: the database in the directory.
  static Result<std::shared_ptr<StoreBackend>> open(const std::string& directory,
                                                    const StoreSettings& settings);

  LocalStore(std::string directory,
             std::unique_ptr<StoreFile> writer,
             std::unique_ptr<StoreFile> reader);
  ~LocalStore() override;

  StoreResult perform(const StoreRequest& request) override;
  void async_perform(StoreRequest request, StoreCallback callback) override;

 private:
  struct Key {
    Space space;
    std::string_view key;
  };

  StoreResult act(const Key& key, const OpenResource& open);
  StoreResult act(const Key& key, const ReadResource& read);
  StoreResult act(const Key& key, const WriteResource& write);
  StoreResult act(const Key& key, const GetKey& get);
  StoreResult act(const Key& key, const PutKey& put);
  StoreResult act(const Key& key, const EraseKey& erase);
  StoreResult act(const Key& key, const RebaseResource& rebase);

  bool forked() const;
  void rest() override;
  void resume() override;
  void let_go() override;

  Result<std::optional<Row>, StoreError> peek(const Key& key);
  StoreResult register_reader(const Key& key, const ReadResource& read);
  StoreResult write_anyhow(const Key& key, const WriteResource& write);
  StoreResult refuse_put(const Key& key, Version expected);

  std::string directory_;
  std::uint32_t generation_;
  std::mutex writing_;
  std::unique_ptr<StoreFile> writer_;
  std::mutex reading_;
  std::unique_ptr<StoreFile> reader_;
  std::unique_ptr<Dispatcher> dispatcher_{std::make_unique<Dispatcher>()};
};

}  // namespace holdfast::local
