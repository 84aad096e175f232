import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createNormaliser, type RawRequest } from './normalise.ts'
import { createPlaceCodec, type RecordedDirectories } from './recorded-directories.ts'

const now = Date.UTC(2026, 10, 15, 6, 7, 12)
const dayMs = 86_400_000

function world(places: RecordedDirectories, at = now, redact = (text: string) => text) {
  const normalise = createNormaliser({ places: createPlaceCodec(places), moments: [at], redact })
  return (body: unknown, path = '/v1/messages?beta=true') =>
    normalise({ method: 'POST', path, body }, 'anthropic')
}

const here: RecordedDirectories = {
  workspace: '/tmp/run/a.b/ws',
  home: '/tmp/run/a.b/home',
  tmp: '/tmp/run/a.b/tmp',
}
const there: RecordedDirectories = {
  workspace: '/var/x/trial-2/work',
  home: '/var/x/trial-2/h',
  tmp: '/var/x/trial-2/t',
}
const later = now + 400 * dayMs + 11 * 3_600_000

function textOf(places: RecordedDirectories, text: string, at = now): unknown {
  return world(places, at)({ messages: [{ role: 'user', content: text }] }).body
}

function outputOf(places: RecordedDirectories, content: string, at = now): unknown {
  const block = { type: 'tool_result', tool_use_id: 'toolu_1', content }
  return world(places, at)({ messages: [{ role: 'user', content: [block] }] }).body
}

/** A Claude Code request, in two environments. */
function claudeRequest(places: RecordedDirectories, at: number, seed: string): unknown {
  const { workspace, home } = places as Record<string, string>
  const dashed = workspace?.replaceAll(/[^A-Za-z0-9]/g, '-')
  const date = new Date(at)
  return {
    model: 'claude-opus-5-5',
    metadata: { user_id: `{"device_id":"${seed}","session_id":"0000${seed}"}` },
    system: [
      {
        type: 'text',
        text: `x-anthropic-billing-header: cc_version=2.1.325.${seed}; cc_entrypoint=sdk-cli; cch=${seed};`,
      },
      {
        type: 'text',
        text: `memory at ${home}/.claude/projects/${dashed}/memory/`,
        cache_control: { type: 'ephemeral' },
      },
    ],
    messages: [
      { role: 'user', content: `Today's date is ${date.toISOString().slice(0, 10)}.\nDo the thing.` },
      {
        role: 'system',
        content: `# Environment\n - Primary working directory: ${workspace}\n - Platform: ${seed}\n - OS Version: ${seed} 6.1`,
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: `toolu_${seed}`, name: 'Bash', input: { command: `cat ${workspace}/a` } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `toolu_${seed}`,
            content: `${workspace}\n${date.toUTCString()}\ntook ${seed.length}ms\npid ${seed.length}\n${date.getTime()}`,
          },
        ],
      },
    ],
  }
}

describe('two requests that differ only in volatile parts are equal', () => {
  test('as a whole: paths, ids, dates, machine, session, cache marks', () => {
    const one = world(here)(claudeRequest(here, now, 'abc1'))
    const other = world(there, later)(claudeRequest(there, later, 'fed23'))
    expect(other).toEqual(one)
    expect(JSON.stringify(one)).toContain('{workspace}')
    expect(JSON.stringify(one)).toContain('cc_version=2.1.325;')
  })

  test.each([
    'Sun Nov 15 06:07:12 UTC 2026',
    'Sun Nov 15 2026',
    'Sunday, November 15, 2026',
    'Sun, 15 Nov 2026 06:07:12 GMT',
    '2026-11-15T06:07:21.738+00:00',
    '2026-11-15 06:07',
    'Nov 15 06:07',
    '11/15/2026, 6:07:12 AM',
    '20261115T060712Z',
    '1794722832000',
    '1794722832.5',
    '[06:05:59]',
  ])('the time as %s', (written) => {
    const body = JSON.stringify(textOf(here, `at ${written} it was`))
    expect(body).toContain('{time}')
    expect(body).not.toMatch(/\d{2}/)
  })

  test('a directory listing, durations and commits in tool output', () => {
    const one =
      'total 8\ndrwxr-xr-x 2 root root 4096 Nov 15 06:07 .\n-rw-r--r-- 1 root root 14 Nov 15 06:07 a.txt\nb98e718 first\n3 passed in 0.52s'
    const other =
      'total 0\ndrwx------ 9 me staff 60 Dec 20 17:07 .\n-rw-r--r-- 1 me staff 14 Dec 20 17:07 a.txt\n3001102 first\n3 passed in 11ms'
    const mode = (text: string) => text.replace('drwx------', 'drwxr-xr-x')
    expect(outputOf(there, mode(other), later)).toEqual(outputOf(here, one))
  })

  test('a text and a list of one text block, as Anthropic takes them', () => {
    const normalise = world(here)
    const one = normalise({ messages: [{ role: 'user', content: 'x' }] })
    expect(normalise({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] })).toEqual(one)
  })

  test('session ids, in names and in text, each with its own number', () => {
    const [one, two] = ['7b6a0c7e-5f5d-4c3a-9d3e-0a1b2c3d4e5f', '11111111-5f5d-4c3a-9d3e-0a1b2c3d4e5f']
    const text = (first: string, second: string) =>
      textOf(here, `session-${first}.jsonl, ${second}, ${first}`)
    expect(text(one, two)).toEqual(text(two, one))
    expect(text(one, two)).not.toEqual(text(one, one))
  })

  test('results of parallel calls, in any order', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` })
    const talk = (...ids: readonly string[]) =>
      world(here)({
        messages: [
          { role: 'assistant', content: ['toolu_aa1', 'toolu_bb2', 'toolu_cc3'].map(call) },
          { role: 'user', content: [...ids.map(result), { type: 'text', text: 'go on' }] },
        ],
      }).body
    const items = (...ids: readonly string[]) =>
      world(here)({
        input: [
          ...['fc_1', 'fc_2'].map((call_id) => ({
            type: 'function_call',
            call_id,
            name: 'x',
            arguments: '{}',
          })),
          ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: call_id })),
        ],
      }).body
    const inOrder = talk('toolu_aa1', 'toolu_bb2', 'toolu_cc3')
    expect(talk('toolu_cc3', 'toolu_aa1', 'toolu_bb2')).toEqual(inOrder)
    expect(items('fc_2', 'fc_1')).toEqual(items('fc_1', 'fc_2'))
  })

  test('generated names of subagents and processes, also where they are passed back', () => {
    const talk = (agent: string, process: string) =>
      world(here)({
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'toolu_1',
                content: `agentId: ${agent} (use SendMessage with to: '${agent}')\nProcess running with session ID ${process}`,
              },
            ],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_2', name: 'SendMessage', input: { to: agent } }],
            arguments: `{"session_id":${process}}`,
          },
        ],
      }).body
    expect(talk('a31976debbae39d18', '51234')).toEqual(talk('a1236dba20ace5587', '7788'))
    expect(JSON.stringify(talk('a31976debbae39d18', '51234'))).toContain('{"to":"{given:1}"}')
  })

  test.each([
    [
      'a commit alone on its line',
      '3a32383e3b0c81cc28ef389462d6ada0579885e9',
      '65d89b713f3a5e26a6d7f30a0e6c51ba4e9a6b4b',
    ],
    ['a short one', '3a32383', '65d89b7'],
    ['a short one that has digits only', '2673536', '65d89b7'],
    [
      'a shell of Copilot',
      '<shellId: 0 completed with exit code 3>',
      '<shellId: 1 completed with exit code 3>',
    ],
    [
      'the machine',
      'Linux vm 6.18.44 #1 SMP aarch64 GNU/Linux',
      'Linux other 7.0.1-amd64 #3 x86_64 GNU/Linux',
    ],
    [
      'the name of a subagent of Codex',
      '{"agent_id":"x","nickname":"Volta"}',
      '{"agent_id":"x","nickname":"Halley"}',
    ],
  ])('%s in tool output', (_, one, other) => {
    expect(outputOf(here, one)).toEqual(outputOf(here, other))
  })

  test.each([
    'Saved working directory and index state WIP on main: f20a75a Second',
    'Dropped refs/stash@{0} (f19ce2d270774f2f59b7125c6087e33775e1f65a)',
    '* main f20a75a Second',
    '| * 5fd8f9a side',
    'Deleted branch side (was 5fd8f9a).',
    '^4a52e54 (S 1) a',
    '/srv/two/work  f20a75a [main]',
    'parent 4a52e54251c72e0bb0f4d35b80dac596fd141b0c',
    'f20a75af2d95e276307deb56fcf86d09273bc7b3 refs/heads/main',
    '64ac20e0b4e06c3a1dcb6b200764edb7f7312126\trefs/heads/main',
    'f20a75af2d95e276307deb56fcf86d09273bc7b3 First commit',
    'Previous HEAD position was 4a52e54 First',
    '   f20a75a..64ac20e  main -> main',
    'Updating f20a75a..64ac20e',
    '<object object at 0xffffade406d0>',
    '[1]+ 28475 Running                 sleep 0.01 &',
    'Device: 254,0 Inode: 16581057    Links: 1',
    '16581057 -rw-r--r-- 1 root root    6 x',
  ])('volatile values in %s', (line) => {
    const other = line.replaceAll(/(?<![a-z])[0-9a-f]{7,40}\b|(?<=0x)\w+|\b28475\b/g, (found) =>
      /^\d+$/.test(found) ? '1987654' : found.replaceAll(/[0-9]/g, (digit) => String(9 - Number(digit))),
    )
    expect(other).not.toBe(line)
    expect(outputOf(here, other)).toEqual(outputOf(here, line))
  })

  test('keys in another order', () => {
    expect(JSON.stringify(world(here)({ b: 1, a: { d: 2, c: 3 } }))).toBe(
      JSON.stringify(world(here)({ a: { c: 3, d: 2 }, b: 1 })),
    )
  })
})

describe('real differences remain', () => {
  test.each([
    ['a date that is not now', 'due 2024-01-01', 'due 2024-01-02'],
    ['a duration in a task', 'wait 5 s', 'wait 10 s'],
    ['a port chosen on purpose', 'http://localhost:3000/', 'http://localhost:8080/'],
    ['a directory next to the workspace', '/tmp/run/a.b/ws-2', '/tmp/run/a.b/ws-3'],
    ['a word that looks like an id', 'rename call_something', 'rename call_otherthing'],
    ['the platform in a task', 'Platform: linux', 'Platform: windows'],
    ['a model with a date in its name', 'use gpt-4o-2024-08-06', 'use gpt-4o-2024-05-13'],
  ])('%s', (_, one, other) => {
    expect(textOf(here, one)).not.toEqual(textOf(here, other))
  })

  test.each([
    ['a checksum of a file', `${'1a'.repeat(20)}  a.txt`, `${'2b'.repeat(20)}  a.txt`],
    ['the hash of a content', 'the hash of a file content', 'index f20a75a..64ac20f 100644'],
    ['a blob', `100644 blob ${'1a'.repeat(20)}\ta.txt`, `100644 blob ${'2b'.repeat(20)}\ta.txt`],
    ['a size', '  size 1234567 bytes', '  size 7654321 bytes'],
    ['the size of a file', '-rw-r--r-- 1 root root 14 x', '-rw-r--r-- 1 root root 15 x'],
  ])('%s in tool output', (_, one, other) => {
    expect(outputOf(here, one)).not.toEqual(outputOf(here, other))
  })

  test('the answer to another call', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
    const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
    const talk = (first: string, second: string) =>
      world(here)({
        messages: [
          { role: 'assistant', content: [call('toolu_a'), call('toolu_b')] },
          { role: 'user', content: [result(first, 'one'), result(second, 'other')] },
        ],
      })
    expect(talk('toolu_a', 'toolu_b')).not.toEqual(talk('toolu_b', 'toolu_a'))
  })

  test('API keys are plain data in the arguments of a tool', () => {
    const call = (input: unknown) =>
      world(here)({
        messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'x', input }] }],
      })
    expect(call({ id: 'one', type: 'a' })).not.toEqual(call({ id: 'two', type: 'a' }))
    expect(call({ cache_control: 1 })).not.toEqual(call({ cache_control: 2 }))
  })

  test('any word, anywhere in a message', () => {
    const word = fc.stringMatching(/^[a-z]{3,12}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), fc.nat(11), word, (words, at, other) => {
        const place = at % words.length
        fc.pre(words[place] !== other)
        const changed = words.with(place, other)
        expect(textOf(here, changed.join(' '))).not.toEqual(textOf(here, words.join(' ')))
        expect(outputOf(here, changed.join('\n'))).not.toEqual(outputOf(here, words.join('\n')))
      }),
    )
  })
})

const volatileWords = fc.constantFrom(
  '/tmp/run/a.b/ws/x',
  '-tmp-run-a-b-ws',
  'toolu_abcdef12',
  '7b6a0c7e-5f5d-4c3a-9d3e-0a1b2c3d4e5f',
  'Sun Nov 15 06:07:12 UTC 2026',
  '2026-11-15',
  '06:07:12',
  '1794722832000',
  'took 12ms',
  'pid 77',
  'commit b98e718',
  '# Environment\n - Shell: bash\n',
  'http://127.0.0.1:41234/abcdefghijklmnop123/v1',
  '{workspace}',
  'total 4\ndrwxr-xr-x 2 root root 4096 Nov 15 06:07 .\n',
)

test('normalising twice has no further effect', () => {
  const text = fc.array(fc.oneof(volatileWords, fc.string({ maxLength: 20 }), fc.constantFrom(' ', '\n', '')))
  const leaf = text.map((parts) => parts.join(''))
  const body = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom('content', 'id', 'type', 'role', 'input', 'user_id', 'text'),
        tie('value'),
      ),
      fc.record({ type: fc.constant('tool_result'), tool_use_id: leaf, content: leaf }),
    ),
  })).value
  const normalise = createNormaliser({
    places: createPlaceCodec(here),
    moments: [now],
    redact: (same) => same,
  })
  fc.assert(
    fc.property(body, (value) => {
      const request: RawRequest = { method: 'POST', path: '/v1/messages', body: value }
      const once = normalise(request, 'anthropic')
      expect(normalise(once, 'anthropic')).toEqual(once)
    }),
    { numRuns: 200 },
  )
})

test('the query is removed, including a key in it, except for the answer format', () => {
  const normalise = world(here)
  expect(normalise({}, '/v1beta/models/m:streamGenerateContent?alt=sse&key=AIzaSecret').path).toBe(
    '/v1beta/models/m:streamGenerateContent?alt=sse',
  )
})

test('deeply nested data does not overflow the stack', () => {
  let deep: unknown = 'x'
  for (let level = 0; level < 5_000; level += 1) deep = [deep]
  expect(() => world(here)({ messages: deep })).not.toThrow()
})

test('secrets are hidden before any other change to a text', () => {
  const hidden = world(here, now, (text) => text.replaceAll('key-2026-11-15', '[REDACTED]'))
  expect(JSON.stringify(hidden({ system: 'use key-2026-11-15' }))).toContain('[REDACTED]')
})
