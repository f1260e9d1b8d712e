#include "sim/redis/lua_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <lua.hpp>
#include <optional>

namespace holdfast::sim {
namespace {

using redis::Reply;

std::string_view text_at(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

std::optional<std::string> field_of(lua_State* lua, int index, const char* field) {
  lua_pushstring(lua, field);
  lua_rawget(lua, index);
  std::optional<std::string> text;
  if (lua_type(lua, -1) == LUA_TSTRING) text = text_at(lua, -1);
  lua_pop(lua, 1);
  return text;
}

Reply read_items(lua_State* lua, int index) {
  Reply array = Reply::of_array({});
  array.items.reserve(lua_objlen(lua, index));
  for (int at = 1;; ++at) {
    lua_rawgeti(lua, index, at);
    const bool end = lua_isnil(lua, -1);
    if (!end) array.items.push_back(read_reply(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
    if (end) return array;
  }
}

Reply read_table(lua_State* lua, int index) {
  if (const auto error = field_of(lua, index, "err")) return Reply::of_error(one_line(*error));
  if (auto status = field_of(lua, index, "ok")) return Reply::of_text(one_line(*status));
  return read_items(lua, index);
}

// What the hardware makes of a number that does not fit, as Redis relies on.
std::int64_t whole(lua_Number number) {
  constexpr lua_Number kEnd = 9223372036854775808.0;
  if (!(number >= -kEnd && number < kEnd)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

void push_number_text(lua_State* lua, lua_Number number) {
  std::array<char, 32> text{};
  // "%.17g" prints whole numbers below this in full.
  constexpr lua_Number kPlain = 1e17;
  const bool plain = std::abs(number) < kPlain && number == std::floor(number) && number != 0;
  const auto size =
      plain ? std::to_chars(text.begin(), text.end(), static_cast<std::int64_t>(number)).ptr -
                  text.begin()
            : std::snprintf(text.data(), text.size(), "%.17g", number);
  lua_pushlstring(lua, text.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::string one_line(std::string_view message) {
  const std::size_t last = message.find_last_not_of("\r\n");
  std::string line{message.substr(0, last == std::string_view::npos ? 0 : last + 1)};
  std::ranges::replace_if(
      line, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return line;
}

void push_field(lua_State* lua, const char* field, std::string_view text) {
  lua_createtable(lua, 0, 1);
  lua_pushlstring(lua, text.data(), text.size());
  lua_setfield(lua, -2, field);
}

void push_answer(lua_State* lua, const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::nil:
      return lua_pushboolean(lua, 0);
    case Answer::Kind::integer:
      return lua_pushnumber(lua, static_cast<lua_Number>(answer.integer));
    case Answer::Kind::text:
      return lua_pushlstring(lua, answer.text.data(), answer.text.size());
    case Answer::Kind::ok:
      return push_field(lua, "ok", answer.text);
    case Answer::Kind::error:
      return push_field(lua, "err", answer.text);
    case Answer::Kind::array:
      lua_createtable(lua, static_cast<int>(answer.items.size()), 0);
      for (std::size_t i = 0; i < answer.items.size(); ++i) {
        lua_pushlstring(lua, answer.items[i].data(), answer.items[i].size());
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
      }
      return;
  }
}

Reply read_reply(lua_State* lua, int index) {
  switch (lua_type(lua, index)) {
    case LUA_TNUMBER:
      return Reply::of_integer(whole(lua_tonumber(lua, index)));
    case LUA_TSTRING:
      return Reply::of_text(std::string{text_at(lua, index)});
    case LUA_TBOOLEAN:
      return lua_toboolean(lua, index) != 0 ? Reply::of_integer(1) : Reply{};
    case LUA_TTABLE:
      return read_table(lua, index);
    default:
      return {};
  }
}

Reading read_words(lua_State* lua, std::vector<std::string_view>& words) {
  const int count = lua_gettop(lua);
  words.resize(static_cast<std::size_t>(count));
  for (int index = 1; index <= count; ++index) {
    const int type = lua_type(lua, index);
    if (type == LUA_TNUMBER) {
      push_number_text(lua, lua_tonumber(lua, index));
      lua_replace(lua, index);
    } else if (type != LUA_TSTRING) {
      return Reading::not_text;
    }
    words[static_cast<std::size_t>(index - 1)] = text_at(lua, index);
  }
  return Reading::done;
}

}  // namespace holdfast::sim
