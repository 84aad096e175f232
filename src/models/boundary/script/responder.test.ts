import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallMessage, ModelCall, Reply, Responder } from '../contract.ts'
import { openaiChat } from '../wire/openai-chat.ts'
import { createScriptResponder, createTurnList, type ScriptDirectories } from './responder.ts'
import { boundaryScriptSchema, type ScriptTurn } from './schema.ts'

describe('picking the turn', () => {
  test('the same request gets the same answer, however often and in whatever order it comes', async () => {
    const turns = [0, 1, 2, 3].map((turn) => ({ text: `turn ${turn}`, calls: [{ run: `echo ${turn}` }] }))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(6), { maxLength: 20 }), async (order) => {
        const model = responder({ turns })
        for (const answers of order) {
          const reply = await ask(model, { messages: conversation(answers) })
          expect(textOf(reply)).toBe(`turn ${Math.min(answers, 3)}`)
          expect(callsOf(reply).map(({ id }) => id)).toEqual([`toolu_${answers + 1}_1`])
        }
      }),
      { numRuns: 20 },
    )
  })

  test('text and calls of the model in separate messages are one answer', async () => {
    const model = responder({ turns: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
    const messages = [user('hi'), assistant('words'), assistant(''), toolResult('x'), system('note')]
    expect(textOf(await ask(model, { messages }))).toBe('b')
  })

  test('a failure comes before the turn after it, with its status, message and retry-after', async () => {
    const model = responder({
      turns: [
        { text: 'a' },
        { error: { status: 429, message: 'slow down', retry_after_secs: 1, type: 'rate', times: 2 } },
        { text: 'b' },
      ],
    })
    const limited = {
      kind: 'failure',
      failure: { status: 429, message: 'slow down', retryAfterSecs: 1, type: 'rate' },
    }
    expect(await ask(model, { messages: conversation(1) })).toEqual(limited)
    expect(textOf(await ask(model, { messages: conversation(0) }))).toBe('a')
    expect(await ask(model, { messages: conversation(1) })).toEqual(limited)
    expect(textOf(await ask(model, { messages: conversation(1) }))).toBe('b')
    expect(textOf(await ask(model, { messages: conversation(2) }))).toBe('b')
  })

  test('a sequence does not depend on the request', async () => {
    const model = responder({ pick: 'sequence', turns: [{ text: 'a' }, { text: 'b' }] })
    const given = [await ask(model, {}), await ask(model, {}), await ask(model, {})]
    expect(given.map(textOf)).toEqual(['a', 'b', 'b'])
  })

  test('concurrent calls take their turns in the order of arrival, even when the first one waits', async () => {
    const model = responder({
      pick: 'sequence',
      turns: [{ delay_ms: 5, error: { status: 500 } }, { text: 'a' }, { text: 'b' }],
    })
    const replies = await Promise.all([ask(model, {}), ask(model, {}), ask(model, {})])
    expect(replies.map((reply) => reply.kind)).toEqual(['failure', 'turn', 'turn'])
    expect(replies.map(textOf)).toEqual(['', 'a', 'b'])
  })

  test('a disconnected agent does not wait for a late failure', async () => {
    const model = responder({ turns: [{ delay_ms: 3_600_000, error: { status: 500 } }] })
    expect(await ask(model, {}, AbortSignal.abort())).toMatchObject({ kind: 'failure' })
  })
})

describe('the content of a turn', () => {
  test('thinking, text and parallel calls, in this order', async () => {
    const model = responder({
      turns: [
        {
          thinking: 'Hm.',
          text: 'Looking.',
          calls: [{ run: 'ls' }, { tool: { name: 'mcp__x__y', input: { a: 1 }, id: 'mine' } }],
          delay_ms: 5,
          chunk_delay_ms: 2,
          model: 'other',
        },
      ],
    })
    expect(await ask(model, {})).toEqual({
      kind: 'turn',
      turn: {
        blocks: [
          { kind: 'thinking', text: 'Hm.' },
          { kind: 'text', text: 'Looking.' },
          {
            kind: 'tool_call',
            id: 'toolu_1_1',
            name: 'Bash',
            input: { command: 'ls', description: 'Scripted command' },
          },
          { kind: 'tool_call', id: 'mine', name: 'mcp__x__y', input: { a: 1 } },
        ],
        stop: 'tools',
        usage: { input: 3, output: 21, cacheRead: 0, cacheWrite: 0, thinking: 1 },
        delayMs: 5,
        chunkDelayMs: 2,
        model: 'other',
      },
    })
  })

  test('the stop reason follows from the calls unless it is given', async () => {
    const model = responder({
      turns: [{ text: 'a' }, { calls: [{ run: 'ls' }] }, { text: 'cut', stop: 'length' }],
    })
    const stops = []
    for (const answers of [0, 1, 2]) {
      const reply = await ask(model, { messages: conversation(answers) })
      stops.push(reply.kind === 'turn' ? reply.turn.stop : null)
    }
    expect(stops).toEqual(['end', 'tools', 'length'])
  })

  test('given token counts are reported, the others are estimated', async () => {
    const model = responder({
      turns: [
        { text: 'four', usage: { input_tokens: 7, cache_read_tokens: 5 } },
        { text: '', usage: { output_tokens: 2, cache_write_tokens: 3, thinking_tokens: 1 } },
      ],
    })
    expect(await ask(model, {})).toMatchObject({
      turn: { usage: { input: 7, output: 1, cacheRead: 5, cacheWrite: 0 } },
    })
    expect(await ask(model, { messages: conversation(1) })).toMatchObject({
      turn: { usage: { output: 2, cacheRead: 0, cacheWrite: 3, thinking: 1 } },
    })
  })

  test('a call that no tool of the agent can make is a failure with that message', async () => {
    const model = responder({ turns: [{ calls: [{ run: 'ls' }] }] })
    expect(await ask(model, { tools: ['Read'] })).toEqual({
      kind: 'failure',
      failure: { status: 400, message: expect.stringMatching(/run a command.*only Read/) },
    })
  })

  test('known directories are filled in wherever a text occurs', async () => {
    const model = responder(
      {
        turns: [
          {
            text: '{workspace} {home} {other} {',
            calls: [
              { run: 'cat {tmp}/x' },
              { write: { path: '{workspace}/a', content: '{workspace}' } },
              { tool: { name: 't', input: { deep: [{ at: '{tmp}' }] } } },
            ],
          },
        ],
        rules: [{ when: { system: 'at {workspace}' }, turns: [{ text: 'ruled' }] }],
      },
      { workspace: '/w/$&', tmp: '/t' },
    )
    const reply = await ask(model, {})
    expect(textOf(reply)).toBe('/w/$& {home} {other} {')
    expect(callsOf(reply).map(({ input }) => input)).toEqual([
      { command: 'cat /t/x', description: 'Scripted command' },
      { file_path: '/w/$&/a', content: '/w/$&' },
      { deep: [{ at: '/t' }] },
    ])
    expect(textOf(await ask(model, { system: 'you work at /w/$&' }))).toBe('ruled')
  })
})

describe('rules', () => {
  const turns = [{ text: 'main' }]
  const rule = (when: object) => ({ turns, rules: [{ when, turns: [{ text: 'ruled' }] }] })

  test.each<[object, Partial<ModelCall>, boolean]>([
    [{ system: 'counts' }, { system: 'an agent that counts files' }, true],
    [{ system: 'counts' }, { messages: [user('counts')] }, false],
    [{ last_message: 'go' }, { messages: [user('go on')] }, true],
    [{ last_message: 'go' }, { messages: [user('go'), assistant('x'), user('stop')] }, false],
    [{ last_message: 'go' }, { messages: [user('go'), system('be quick')] }, true],
    [
      { last_message: 'first' },
      { messages: [user('x'), assistant(''), toolResult('first'), toolResult('second')] },
      true,
    ],
    [{ prompt: 'count' }, { messages: [user('count'), assistant('x'), user('go')] }, true],
    [{ prompt: 'count' }, { messages: [user('go'), assistant('x'), user('count')] }, false],
    [{ model: 'haiku' }, { model: 'claude-haiku-9' }, true],
    [{ model: 'haiku' }, { model: 'claude-opus-9' }, false],
    [{ api: 'anthropic' }, {}, true],
    [{ api: 'gemini' }, {}, false],
    [{ tool: 'Bash' }, {}, true],
    [{ tool: 'Bas' }, {}, false],
    [{ api: 'anthropic', tool: 'Nope' }, {}, false],
    [{ system: 'x' }, { kind: 'side', system: 'x', tools: [] }, false],
    [{ system: 'x', kind: 'side' }, { kind: 'side', system: 'x', tools: [] }, true],
    [{ kind: 'any' }, { kind: 'compaction' }, true],
  ])('%j on %j: %s', async (when, call, fits) => {
    const text = textOf(await ask(responder(rule(when)), call))
    expect(text === 'ruled').toBe(fits)
  })

  test('the first matching rule answers, with its own turns and pick mode', async () => {
    const model = responder({
      turns,
      rules: [
        { when: { system: 'sub' }, pick: 'sequence', turns: [{ text: 's1' }, { text: 's2' }] },
        { when: { api: 'anthropic' }, turns: [{ text: 'a1' }, { text: 'a2' }] },
      ],
    })
    expect(textOf(await ask(model, { system: 'a sub' }))).toBe('s1')
    expect(textOf(await ask(model, { system: 'a sub' }))).toBe('s2')
    expect(textOf(await ask(model, {}))).toBe('a1')
    expect(textOf(await ask(model, { messages: conversation(1) }))).toBe('a2')
    expect(textOf(await ask(model, { api: 'openai-chat' }))).toBe('main')
  })

  test('calls of different conversations never share an id', async () => {
    const model = responder({
      turns: [{ calls: [{ run: 'main' }, { run: 'again' }] }],
      rules: [{ when: { system: 'sub' }, turns: [{ calls: [{ run: 'ls' }] }] }],
    })
    const ids: string[] = []
    for (const call of [
      {},
      { messages: conversation(1) },
      { messages: [user('another')] },
      { system: 'sub' },
      { system: 'sub', messages: [user('another')] },
      { api: 'openai-responses' as const, tools: ['exec_command'] },
    ])
      ids.push(...callsOf(await ask(model, call)).map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.at(-1)).toMatch(/^call_/)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
  })
})

describe('subagents', () => {
  test('Codex waits for a subagent before the next turn, which does not change the index', async () => {
    const model = responder({
      turns: [{ calls: [{ subagent: { prompt: 'count' } }, { run: 'ls' }] }, { text: 'b' }, { text: 'c' }],
    })
    const codex = { api: 'openai-responses' as const, tools: ['exec_command', 'tool_search'] }
    const [spawn, run] = callsOf(await ask(model, codex))
    expect(spawn).toMatchObject({ id: 'call_1_1_sub', name: 'multi_agent_v1.spawn_agent' })
    const started = [
      user('Do it now.'),
      { ...assistant(''), toolCalls: [spawn, run].flatMap((call) => call ?? []) },
      result('call_1_1_sub', '{"agent_id":"a-1","nickname":"x"}'),
      result('call_1_2', 'files'),
    ]
    const waiting = await ask(model, { ...codex, messages: started })
    expect(callsOf(waiting)).toEqual([
      {
        kind: 'tool_call',
        id: 'call_1_1_wait',
        name: 'multi_agent_v1.wait_agent',
        input: { targets: ['a-1'] },
      },
    ])
    const waited = [
      ...started,
      { ...assistant(''), toolCalls: callsOf(waiting) },
      result('call_1_1_wait', '{"status":{}}'),
    ]
    expect(textOf(await ask(model, { ...codex, messages: waited }))).toBe('b')
    const later = [...waited, assistant('b'), user('go on')]
    expect(textOf(await ask(model, { ...codex, messages: later }))).toBe('c')
  })

  test('a subagent that did not start is not waited for', async () => {
    const model = responder({ turns: [{ calls: [{ subagent: { prompt: 'count' } }] }, { text: 'b' }] })
    const codex = { api: 'openai-responses' as const, tools: ['exec_command', 'tool_search'] }
    const toolCalls = callsOf(await ask(model, codex))
    const messages = [
      user('Do it now.'),
      { ...assistant(''), toolCalls },
      result('call_1_1_sub', 'unsupported call'),
    ]
    expect(textOf(await ask(model, { ...codex, messages }))).toBe('b')
  })

  test('the last turn of a Gemini subagent is submitted', async () => {
    const model = responder({ turns: [{ text: 'counted' }] })
    const reply = await ask(model, { api: 'gemini', tools: ['run_shell_command', 'complete_task'] })
    expect(callsOf(reply)).toMatchObject([{ name: 'complete_task', id: 'call_1_1' }])
    expect(reply).toMatchObject({ turn: { stop: 'tools' } })
  })
})

describe('calls that are not turns', () => {
  const script = { turns: [{ text: 'main' }] }

  test('a side call and a compaction have their own answers and do not change the index', async () => {
    const model = responder({ ...script, pick: 'sequence', side: { text: 'A title' } })
    expect(textOf(await ask(model, { kind: 'side', tools: [] }))).toBe('A title')
    expect(textOf(await ask(model, { kind: 'compaction' }))).toMatch(/^<analysis>.*<summary>.*<\/summary>$/s)
    expect(callsOf(await ask(model, {}))).toEqual([])
    expect(textOf(await ask(model, {}))).toBe('main')
  })

  test('they can fail too', async () => {
    const model = responder({ ...script, compaction: { error: { status: 500, message: 'no' } } })
    expect(await ask(model, { kind: 'compaction' })).toMatchObject({ failure: { status: 500 } })
  })

  test('tokens are counted and models are listed in the API format', async () => {
    const model = responder({ ...script, models: ['one', 'two'] })
    const counted = await ask(model, { kind: 'count_tokens', messages: [user('x'.repeat(40))] })
    expect(counted).toMatchObject({ kind: 'verbatim', ...verbatim(openaiChat.encodeCount(11)) })
    const listed = await ask(model, { kind: 'list_models' })
    expect(listed).toMatchObject({ kind: 'verbatim', ...verbatim(openaiChat.encodeModels(['one', 'two'])) })
  })
})

function responder(script: object, places: ScriptDirectories = {}): Responder {
  return createScriptResponder(boundaryScriptSchema.parse(script), places)
}

function ask(
  model: Responder,
  call: Partial<ModelCall>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Reply> {
  return model.answer({
    index: 0,
    format: openaiChat,
    call: {
      api: 'anthropic',
      kind: 'turn',
      model: 'm',
      stream: true,
      system: '',
      messages: [user('Do it now.')],
      tools: ['Bash', 'Write', 'Edit', 'Read', 'Agent'],
      maxOutputTokens: null,
      ...call,
    },
    http: { method: 'POST', path: '/v1/messages', headers: {}, body: new Uint8Array() },
    signal,
  })
}

function conversation(answers: number): CallMessage[] {
  const rounds = Array.from({ length: answers }, (_, index) => [
    assistant(`answer ${index}`),
    toolResult('ok'),
  ])
  return [user('Do it now.'), ...rounds.flat()]
}

function message(role: CallMessage['role'], text: string): CallMessage {
  return { role, text, toolCalls: [], toolResults: [] }
}

function user(text: string): CallMessage {
  return message('user', text)
}

function assistant(text: string): CallMessage {
  return message('assistant', text)
}

function system(text: string): CallMessage {
  return message('system', text)
}

function toolResult(text: string): CallMessage {
  return { ...message('tool', ''), toolResults: [{ id: null, text, isError: false }] }
}

function result(id: string, text: string): CallMessage {
  return { ...message('tool', ''), toolResults: [{ id, text, isError: false }] }
}

function textOf(reply: Reply): string {
  if (reply.kind !== 'turn') return ''
  return reply.turn.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('')
}

function callsOf(reply: Reply) {
  if (reply.kind !== 'turn') return []
  return reply.turn.blocks.filter((block) => block.kind === 'tool_call')
}

function verbatim({ status, headers, chunks }: ReturnType<typeof openaiChat.encodeCount>) {
  return { status, headers, body: chunks }
}

const busy = (times?: number): ScriptTurn => ({
  error: { status: 529, message: 'busy', ...(times !== undefined && { times }) },
})
const say = (text: string): ScriptTurn => ({ text })

test('without errors the same index always gets the same turn, and the last turn repeats', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(20), { maxLength: 40 }),
      (texts, asked) => {
        const list = createTurnList(texts.map(say), 'index')
        for (const answers of asked) {
          const { turn, number } = list(answers)
          expect(turn.text).toBe(texts[Math.min(answers, texts.length - 1)])
          expect(number).toBe(answers + 1)
        }
      },
    ),
  )
})

test('an error is repeated as configured, then the turn after it follows; later indexes do not change', () => {
  const list = createTurnList([say('a'), busy(2), busy(), say('b'), say('c')], 'index')
  const ask = (answers: number): string => list(answers).turn.text ?? 'error'
  expect([0, 1, 1, 1, 1, 1, 2, 1, 2].map(ask)).toEqual([
    'a',
    'error',
    'error',
    'error',
    'b',
    'b',
    'c',
    'b',
    'c',
  ])
})

test('every answer is reached by its index, whatever errors are in between', () => {
  const turns = fc.array(fc.oneof(fc.nat(3), fc.constant('answer' as const)), { maxLength: 12 })
  fc.assert(
    fc.property(turns, (plan) => {
      const written = [...plan, 'answer' as const]
      let texts = 0
      const list = createTurnList(
        written.map((step) => {
          if (step !== 'answer') return busy(step + 1)
          texts += 1
          return say(String(texts - 1))
        }),
        'index',
      )
      for (let index = 0; index < texts; index++) {
        let picked = list(index).turn
        for (let tries = 0; picked.error !== undefined && tries < 60; tries++) picked = list(index).turn
        expect(picked.text).toBe(String(index))
      }
    }),
  )
})

test('an error at the end repeats without limit', () => {
  for (const pick of ['index', 'sequence'] as const) {
    const list = createTurnList([say('a'), busy()], pick)
    expect(list(0).turn.text).toBe('a')
    for (let call = 0; call < 5; call++) expect(list(1).turn.error?.status).toBe(529)
  }
})

test('in a sequence every call takes the next turn, and the last one repeats', () => {
  const list = createTurnList([say('a'), busy(2), say('b')], 'sequence')
  const given = Array.from({ length: 6 }, () => list(7))
  expect(given.map(({ turn }) => turn.text ?? 'error')).toEqual(['a', 'error', 'error', 'b', 'b', 'b'])
  expect(given.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
})
