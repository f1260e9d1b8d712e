-- The fence: whether a key lets a holder do something. A refusal ends the operation; nothing has
-- been saved then.

local function holder_of(args)
  local holder = {domain = args[1], mode = args[2], owner = args[4]}
  holder.token = natural('token', args[3])
  if not holder.owner then
    refuse('invalid_argument', 'a holder is a domain, a mode, a token and an owner')
  end
  if holder.mode == 'permit' then
    refuse('invalid_argument', 'a permit is not fenced: several of its tokens are valid at once')
  end
  one_of('mode', holder.mode, 'exclusive', 'shared')
  if not holder.token or holder.token < 1 or holder.token > NUMBER_MAX then
    refuse('invalid_argument', 'the token is out of range')
  end
  return holder
end

local function overtaken(holder, highest)
  local message = ' is stale: the resource has seen ' .. text(highest)
  refuse('stale_token', 'token ' .. text(holder.token) .. message, holder.token, highest)
end

local function another_owner(holder)
  local message = 'token ' .. text(holder.token) .. ' belongs to another owner'
  refuse('stale_token', message, holder.token, holder.token)
end

local function another_mode(holder)
  local message = 'token ' .. text(holder.token) .. ' opened the resource in another mode'
  refuse('invalid_argument', message)
end

local function wrong_domain(fence, holder)
  local message = 'the resource belongs to the lock ' .. fence.domain .. ', not to '
  refuse('wrong_domain', message .. holder.domain)
end

local function forgotten(holder)
  local message = 'the resource no longer knows token ' .. text(holder.token)
  refuse('stale_token', message .. ': it was removed since it was opened', holder.token)
end

local function is(token, owner, holder)
  return token == holder.token and owner == holder.owner
end

local function is_exclusive(fence, holder)
  return is(fence.exclusive, fence.exclusive_owner, holder)
end

local function is_newest(fence, holder)
  return is(fence.any, fence.any_owner, holder)
end

-- These two answer whether the fence has changed.
local function open_exclusive(fence, holder)
  if holder.token < fence.any then
    overtaken(holder, fence.any)
  end
  if holder.token == fence.any then
    if not is_newest(fence, holder) then
      another_owner(holder)
    end
    if not is_exclusive(fence, holder) then
      another_mode(holder)
    end
    return false
  end
  fence.exclusive, fence.exclusive_owner = holder.token, holder.owner
  fence.any, fence.any_owner = holder.token, holder.owner
  fence.sequence = 0
  return true
end

local function open_shared(fence, holder)
  if holder.token < fence.exclusive then
    overtaken(holder, fence.exclusive)
  end
  if holder.token == fence.exclusive then
    if not is_exclusive(fence, holder) then
      another_owner(holder)
    end
    another_mode(holder)
  end
  if holder.token == fence.any and not is_newest(fence, holder) then
    another_owner(holder)
  end
  if holder.token <= fence.any then
    return false
  end
  fence.any, fence.any_owner = holder.token, holder.owner
  return true
end

local function fence_of(domain, policy)
  return {domain = domain, policy = policy, exclusive = 0, exclusive_owner = '', any = 0,
          any_owner = '', sequence = 0, written = 0, written_sequence = 0}
end

-- Registers the holder. Answers whether the fence has changed.
local function open(row, holder, policy)
  row.fence = row.fence or fence_of(holder.domain, policy or 'many')
  if row.fence.domain ~= holder.domain then
    wrong_domain(row.fence, holder)
  end
  if (policy or row.fence.policy) ~= row.fence.policy then
    refuse('invalid_argument', 'the resource has the other write policy')
  end
  if holder.mode == 'exclusive' then
    return open_exclusive(row.fence, holder)
  end
  return open_shared(row.fence, holder)
end

-- An older shared token cannot be told from one that never opened: the newest only is remembered,
-- and reading harms nobody.
local function may_read(fence, holder)
  if holder.mode == 'exclusive' then
    return is_exclusive(fence, holder)
  end
  return is_newest(fence, holder) or
         (holder.token > fence.exclusive and holder.token < fence.any)
end

-- Answers whether the fence has changed.
local function admit_reader(row, holder, opened)
  local fence = row.fence
  if opened ~= 'before' and not (fence and may_read(fence, holder)) then
    return open(row, holder)
  end
  if not fence then
    forgotten(holder)
  end
  if fence.domain ~= holder.domain then
    wrong_domain(fence, holder)
  end
  if may_read(fence, holder) then
    return false
  end
  if holder.token < fence.exclusive then
    overtaken(holder, fence.exclusive)
  end
  if holder.token == fence.exclusive then
    another_owner(holder)
  end
  forgotten(holder)
end

local function admit_writer(row, holder, opened, sequence)
  if holder.mode ~= 'exclusive' then
    refuse('invalid_argument', 'a shared lease may only read')
  end
  if sequence == 0 then
    refuse('invalid_argument', 'sequence 0 is the open')
  end
  if opened == 'before' then
    if not row.fence then
      forgotten(holder)
    end
    if row.fence.domain ~= holder.domain then
      wrong_domain(row.fence, holder)
    end
    if holder.token > row.fence.any then
      forgotten(holder)
    end
  end
  open(row, holder)
end

-- Answers whether it is an operation to be done, and not the last one again. `given` is the
-- sequence as text, which is exact beyond the range of numbers.
local function next_operation(row, holder, sequence, given, value)
  local fence = row.fence
  if sequence > NUMBER_MAX then
    refuse('invalid_argument', 'sequence ' .. given .. ' is out of range')
  end
  if sequence == fence.sequence then
    if value_of(row) ~= value then
      refuse('invalid_argument', 'sequence ' .. text(sequence) .. ' was another operation')
    end
    return false
  end
  if sequence < fence.sequence then
    local message = ' is older than ' .. text(fence.sequence) .. ', the last one done under token '
    message = 'sequence ' .. text(sequence) .. message .. text(holder.token)
    refuse('stale_token', message, holder.token, fence.exclusive)
  end
  if fence.policy == 'strict' and fence.written == holder.token then
    local message = ' has written already, and the resource allows one write per token'
    message = 'token ' .. text(holder.token) .. message
    refuse('stale_token', message, holder.token, fence.written)
  end
  fence.sequence, fence.written, fence.written_sequence = sequence, holder.token, sequence
  return true
end
