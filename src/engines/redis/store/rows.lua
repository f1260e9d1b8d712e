-- The store: values with versions, and fences that refuse whoever may no longer change them.
--
-- One hash per key, with these fields:
--   value      absent: erased, or never written
--   version    rises with every change
--   expires    milliseconds since 1970; from then on the value is not there
--   domain … written_sequence
--              the fence, once the key was opened with a token: the lock it belongs to, the two
--              marks with their owners, and what was written last
--   done       the requests that changed the key last, newest first: id:version:sequence
--   rebased    the request that moved it to another lock last
--
-- Every operation is atomic, and answers an array whose first item is a word: what became of it, or
-- the code of a refusal. The decisions are those of core/fence.cc; a test runs both side by side.

-- The highest token, sequence and version: exact in Lua's numbers.
local NUMBER_MAX = 9007199254740991
local VALUE_BYTES_MAX = 1048576
-- A hundred years.
local KEEP_MS_MAX = 3162240000000
-- How long a key is remembered that has nothing to say any more. Versions do not go back unless the
-- server's clock does, by more than this.
local MEMORY_MS = 600000
-- How many requests are remembered.
local REQUESTS = 4
local AUDIT_LENGTH = 100

local FENCE = {'domain', 'policy', 'exclusive', 'exclusive_owner', 'any', 'any_owner', 'sequence',
               'written', 'written_sequence'}

-- Numbers as text: Lua prints large ones inexactly unless told otherwise.
local function text(number)
  return string.format('%.0f', number)
end

local function refuse(code, message, first, second)
  error({code, message, first or 0, second or 0})
end

local function damaged(field)
  error({err = 'HOLDFAST the field ' .. field .. ' of the key is not a number'})
end

-- A whole number from an argument; nil when it was left out.
local function natural(name, given)
  if not given or given == '' then
    return nil
  end
  if not string.match(given, '^%d+$') then
    refuse('invalid_argument', 'the ' .. name .. ' is not a whole number')
  end
  return tonumber(given)
end

local function one_of(name, given, first, second)
  if given ~= first and given ~= second then
    refuse('invalid_argument', 'the ' .. name .. ' is neither ' .. first .. ' nor ' .. second)
  end
  return given
end

local function stored_number(field, stored)
  return tonumber(stored) or damaged(field)
end

local function load_fence(content)
  local fence = {}
  for i, name in ipairs(FENCE) do
    fence[name] = content[i]
  end
  if not fence.domain then
    return nil
  end
  for _, name in ipairs({'exclusive', 'any', 'sequence', 'written', 'written_sequence'}) do
    fence[name] = stored_number(name, fence[name])
  end
  return fence
end

local function load_row(key)
  local version, expires, done, rebased = 1, 2, 3, 4
  local fields = redis.call('HMGET', key, 'version', 'expires', 'done', 'rebased', unpack(FENCE))
  local time = redis.call('TIME')
  local row = {key = key, done = fields[done] or '', rebased = fields[rebased]}
  row.fence = load_fence({unpack(fields, rebased + 1)})
  row.now = time[1] * 1000000 + time[2]
  row.now_ms = math.floor(row.now / 1000)
  row.version = stored_number('version', fields[version] or '0')
  row.expires = fields[expires] and stored_number('expires', fields[expires])
  row.expired = row.expires and row.expires <= row.now_ms
  return row
end

-- False: there is none.
local function value_of(row)
  return not row.expired and redis.call('HGET', row.key, 'value')
end

local function has_value(row)
  return not row.expired and redis.call('HEXISTS', row.key, 'value') == 1
end

local function save(row, fields)
  if row.fence then
    for _, name in ipairs(FENCE) do
      local content = row.fence[name]
      fields[#fields + 1] = name
      fields[#fields + 1] = type(content) == 'number' and text(content) or content
    end
  end
  redis.call('HSET', row.key, unpack(fields))
end

-- The value stays as it is; unless it has expired. Then it goes. Without a value the fence is no
-- longer forgotten: its holder is at work.
local function save_fence(row)
  save(row, {'version', text(row.version)})
  if not row.expires then
    -- It may be what is left of a key that was erased.
    redis.call('PERSIST', row.key)
  elseif not has_value(row) then
    redis.call('HDEL', row.key, 'value', 'expires')
    redis.call('PERSIST', row.key)
  end
end

-- Changes the value and gives a new version. What has no value and no fence, or expires, is
-- forgotten some time later.
local function change(row, request, value, keep)
  local version = math.max(row.version + 1, row.now)
  if version > NUMBER_MAX then
    error({err = 'HOLDFAST the versions are used up'})
  end
  local sequence = row.fence and row.fence.sequence or 0
  local done = {(request or '-') .. ':' .. text(version) .. ':' .. text(sequence)}
  for entry in string.gmatch(row.done, '[^ ]+') do
    if #done < REQUESTS then
      done[#done + 1] = entry
    end
  end
  local fields = {'version', text(version), 'done', table.concat(done, ' ')}
  if value then
    fields[5], fields[6] = 'value', value
  end
  local expires = keep and row.now_ms + keep
  if expires then
    fields[#fields + 1], fields[#fields + 2] = 'expires', text(expires)
  end
  save(row, fields)
  if not value then
    redis.call('HDEL', row.key, 'value')
  end
  if row.expires and not expires then
    redis.call('HDEL', row.key, 'expires')
  end
  if expires or not (value or row.fence) then
    redis.call('PEXPIREAT', row.key, text((expires or row.now_ms) + MEMORY_MS))
  else
    redis.call('PERSIST', row.key)
  end
  return {'applied', version, sequence}
end

-- What was answered to this very request before; nil: it has not changed anything, or that is too
-- long ago.
local function done_before(row, request)
  if not request then
    return nil
  end
  for id, version, sequence in string.gmatch(row.done, '([^ :]+):(%d+):(%d+)') do
    if id == request then
      return {'applied', tonumber(version), tonumber(sequence)}
    end
  end
end

-- Whether a request that changed the key within the last `age` microseconds would still be
-- remembered.
local function remembers(row, age)
  local count = 0
  local oldest = 0
  for version in string.gmatch(row.done, ':(%d+):') do
    count = count + 1
    oldest = tonumber(version)
  end
  return count < REQUESTS or oldest < row.now - age
end
