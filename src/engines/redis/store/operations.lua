-- The operations. Each takes the row, the arguments, and the id of the request if it has one; what
-- stands in brackets may be left out or empty.

local operations = {}

local function entry(row)
  local fence = row.fence or fence_of()
  local value = value_of(row)
  if not value then
    return {'absent', fence.sequence, row.version}
  end
  return {'found', fence.sequence, row.version, fence.written, fence.written_sequence, value}
end

-- domain, mode, token, owner[, policy]: {'opened', last sequence}.
function operations.open(row, args)
  local holder = holder_of(args)
  local policy = args[5] ~= '' and args[5] or nil
  if policy then
    one_of('policy', policy, 'many', 'strict')
  end
  local is_new = not row.fence
  if open(row, holder, policy) or is_new then
    save_fence(row)
  end
  return {'opened', row.fence.sequence}
end

-- domain, mode, token, owner[, sequence[, 'before']]: as get, of a registered holder.
function operations.read(row, args)
  local holder = holder_of(args)
  local sequence = natural('sequence', args[5])
  local changed = admit_reader(row, holder, args[6])
  local fence = row.fence
  if sequence and is_exclusive(fence, holder) and sequence < fence.sequence then
    local message = 'sequence ' .. args[5] .. ' is older than ' .. text(fence.sequence)
    refuse('stale_token', message, holder.token, fence.exclusive)
  end
  local answer = entry(row)
  if changed or (row.expires and answer[1] == 'absent') then
    save_fence(row)
  end
  return answer
end

-- The value is false for an erase; options are sequence, 'before', and how long to keep it.
local function write(row, args, request, value, options)
  local answer = done_before(row, request)
  if answer then
    return answer
  end
  local holder = holder_of(args)
  local sequence = natural('sequence', options[1])
  local keep = natural('keep', options[3])
  if keep and keep > KEEP_MS_MAX then
    refuse('invalid_argument', 'the keep is out of range')
  end
  admit_writer(row, holder, options[2], sequence)
  local given = sequence and options[1]
  sequence = sequence or row.fence.sequence + 1
  if not next_operation(row, holder, sequence, given or text(sequence), value) then
    return {'duplicate', row.version, sequence}
  end
  return change(row, request, value, keep)
end

local function checked_value(value)
  if not value then
    refuse('invalid_argument', 'there is no value')
  end
  if #value > VALUE_BYTES_MAX then
    refuse('invalid_argument', 'the value has more than 1 MiB')
  end
  return value
end

-- domain, mode, token, owner, value[, sequence[, 'before'[, milliseconds to keep it]]]:
-- {'applied' or 'duplicate', version, sequence}.
function operations.write(row, args, request)
  return write(row, args, request, checked_value(args[5]), {args[6], args[7], args[8]})
end

-- domain, mode, token, owner[, sequence[, 'before'[, milliseconds]]]: as write, and the value goes.
function operations.remove(row, args, request)
  return write(row, args, request, false, {args[5], args[6], args[7]})
end

-- {'found', last sequence, version, token, sequence of the write, value}, or
-- {'absent', last sequence, version}.
function operations.get(row)
  return entry(row)
end

-- Answers the version of a key without a fence; 0: there is no value.
local function plain_version(row, given)
  if row.fence then
    refuse('wrong_domain', 'the key is fenced by the lock ' .. row.fence.domain)
  end
  local actual = has_value(row) and row.version or 0
  local expected = natural('version', given)
  if expected and expected ~= actual then
    local message = 'the key is at version ' .. text(actual) .. ', not at ' .. given
    refuse('version_conflict', message, actual)
  end
  return actual
end

-- value[, version]: {'applied', version, 0}.
function operations.put(row, args, request)
  local value = checked_value(args[1])
  local answer = done_before(row, request)
  if answer then
    return answer
  end
  plain_version(row, args[2])
  return change(row, request, value)
end

-- [version]: {'applied', version, 0}, or {'unchanged', 0, 0} when there was nothing.
function operations.erase(row, args, request)
  local answer = done_before(row, request)
  if answer then
    return answer
  end
  if plain_version(row, args[1]) == 0 then
    return {'unchanged', 0, 0}
  end
  return change(row, request, false)
end

-- A second key, the record; domain, why, who: {'applied', version, 0}.
function operations.rebase(row, args, request, record)
  if request and row.rebased == request then
    return {'applied', row.version, 0}
  end
  if not (args[1] and record) then
    refuse('invalid_argument', 'a rebase takes a second key for its record, and a domain')
  end
  if not row.fence then
    refuse('not_found', 'there is no fenced resource of that name')
  end
  -- On record first: a fence that nobody can account for is worse than one that was not moved.
  redis.call('XADD', record, 'MAXLEN', AUDIT_LENGTH, '*', 'action', 'rebase', 'resource', row.key,
             'from', row.fence.domain, 'to', args[1], 'highest', text(row.fence.any),
             'why', args[2] or '', 'who', args[3] or '')
  row.fence = fence_of(args[1], row.fence.policy)
  save_fence(row)
  redis.call('HSET', row.key, 'rebased', request or '-')
  return {'applied', row.version, 0}
end

-- Runs an operation. `request` and `age` are nil for callers who do not repeat themselves. A refusal
-- says in its fifth item whether that is all: unsettled means that an attempt under the same id,
-- made within the last `age` microseconds, may have been done all the same.
local function run(name, keys, args, request, age)
  local row
  local finished, answer = pcall(function()
    row = load_row(keys[1])
    return operations[name](row, args, request, keys[2])
  end)
  if finished then
    return answer
  end
  -- Some servers hand over their own errors as text, others as a table.
  if type(answer) == 'string' then
    return redis.error_reply(answer)
  end
  if answer.err then
    return answer
  end
  answer[5] = (age and not remembers(row, age)) and 'unsettled' or 'settled'
  return answer
end
