import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { acquireLock } from '../../../io/lock.ts'
import type { IncomingCall, Reply, Responder, Turn } from '../contract.ts'
import type { WireFormat } from '../wire/contract.ts'
import { routeCall } from '../wire/index.ts'
import type { CassetteOptions } from './contract.ts'
import { openCassette } from './open-cassette.ts'
import { readCassette } from './read-cassette.ts'
import { hasCassette } from './read-cassette-index.ts'

let fixture: FsFixture
let dir: string

beforeEach(async () => {
  fixture = await createFixture({})
  dir = fixture.getPath('tape')
})
afterEach(() => fixture.rm())

const here = { workspace: '/tmp/one/ws', home: '/tmp/one/home' }
const there = { workspace: '/srv/two/work', home: '/srv/two/h' }
const tokens = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }

function open(options: Partial<CassetteOptions>) {
  return openCassette({
    dir,
    mode: 'strict',
    places: here,
    upstream: null,
    redact: (text) => text.replaceAll('sk-secret', '[REDACTED]'),
    facts: { agent: 'test' },
    ...options,
  })
}

function incoming(body: unknown, path = '/v1/messages'): IncomingCall {
  const routed = routeCall('POST', path.split('?')[0] ?? path)
  if (routed === null) throw new Error(`no route for ${path}`)
  const { format, route } = routed
  return {
    index: 0,
    format,
    call: format.readCall(body, route),
    http: {
      method: 'POST',
      path,
      headers: { 'x-api-key': 'sk-secret' },
      body: Buffer.from(JSON.stringify(body)),
    },
    signal: new AbortController().signal,
  }
}

interface Said {
  readonly status: number
  readonly body: string
  readonly by: string | undefined
  readonly contentType: string | undefined
}

async function hear(reply: Reply): Promise<Said> {
  if (reply.kind !== 'verbatim') throw new Error(`${reply.kind}: ${'problem' in reply ? reply.problem : ''}`)
  const chunks: Buffer[] = []
  for await (const chunk of reply.body) chunks.push(Buffer.from(chunk))
  return {
    status: reply.status,
    body: Buffer.concat(chunks).toString(),
    by: reply.by,
    contentType: reply.headers['content-type'],
  }
}

async function ask(responder: Responder, body: unknown, path?: string) {
  const call = incoming(body, path)
  const said = await hear(await responder.answer(call))
  return { ...said, reading: readAs(call.format, said) }
}

function readAs(format: WireFormat, { body, contentType }: Said) {
  const reader = format.createReader(contentType ?? '')
  reader.push(body)
  return reader.end()
}

/** Stands in for a model and returns the given turns in order. */
function speaker(...turns: readonly (Partial<Turn> | Reply)[]): Responder & { calls: number } {
  const responder = {
    name: 'speaker',
    calls: 0,
    answer: async (): Promise<Reply> => {
      const said = turns[Math.min(responder.calls, turns.length - 1)] ?? {}
      responder.calls += 1
      if ('kind' in said) return said
      return { kind: 'turn', turn: { blocks: [], stop: 'end', usage: tokens, ...said } }
    },
  }
  return responder
}

const text = (words: string): Partial<Turn> => ({ blocks: [{ kind: 'text', text: words }] })

function talk(prompt: string, extra: object = {}) {
  return {
    model: 'm',
    max_tokens: 5,
    stream: true,
    messages: [{ role: 'user', content: prompt }],
    tools: [{ name: 'Write', description: 'writes', input_schema: { type: 'object' } }],
    ...extra,
  }
}

async function record(prompts: readonly string[], upstream: Responder): Promise<void> {
  const cassette = open({ mode: 'record', upstream })
  for (const prompt of prompts) await ask(cassette.responder, talk(prompt))
  cassette.finish()
}

function fileOf(name: string): string {
  return readFileSync(join(dir, name), 'utf8')
}

describe('a recording is replayed', () => {
  test('in other directories, with their paths in tool calls', async () => {
    const input = { file_path: '/tmp/one/ws/a.txt', content: 'for {workspace} x' }
    await record(
      ['write /tmp/one/ws/a.txt'],
      speaker({ stop: 'tools', blocks: [{ kind: 'tool_call', id: 'toolu_1', name: 'Write', input }] }),
    )
    const cassette = open({ places: there })
    const answer = await ask(cassette.responder, talk('write /srv/two/work/a.txt'))
    expect(answer.reading.toolCalls).toEqual([
      {
        id: 'toolu_1',
        name: 'Write',
        input: { file_path: '/srv/two/work/a.txt', content: 'for {workspace} x' },
      },
    ])
    expect(answer.reading.tokens).toMatchObject({ input: 10, output: 5 })
    expect(answer).toMatchObject({ status: 200, by: 'replay' })
    expect(answer.contentType).toMatch(/event-stream/)
    expect(cassette.summary()).toEqual({ recorded: 0, replayed: 1, unused: 0 })
    expect(fileOf('0001.json')).toContain('"file_path": "{workspace}/a.txt"')
  })

  test('with the names that the agent generated this time', async () => {
    const agents = ['a31976debbae39d18', 'a1236dba20ace5587']
    const uuids = ['019a7f00-5f5d-4c3a-9d3e-0a1b2c3d4e5f', '11111111-5f5d-4c3a-9d3e-0a1b2c3d4e5f']
    const processes = [51_234, 7_788]
    const said = (run: number) =>
      `agentId: ${agents[run]}, thread ${uuids[run]}. Process running with session ID ${processes[run]}`
    const body = (run: number) => ({
      model: 'm',
      stream: true,
      input: [
        { type: 'function_call', call_id: 'call_1', name: 'run', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: said(run) },
      ],
      tools: [{ type: 'function', name: 'wait' }],
    })
    const input = (run: number) => ({ to: [agents[run], uuids[run]], session_id: processes[run], n: 3 })
    const recording = open({
      mode: 'record',
      upstream: speaker({
        stop: 'tools',
        blocks: [{ kind: 'tool_call', id: 'call_2', name: 'wait', input: input(0) }],
      }),
    })
    await ask(recording.responder, body(0), '/v1/responses')
    recording.finish()
    const { reading } = await ask(open({ places: there }).responder, body(1), '/v1/responses')
    expect(reading.toolCalls).toMatchObject([{ name: 'wait', input: input(1) }])
    for (const name of [agents[0], uuids[0], String(processes[0])])
      expect(fileOf('0001.json')).not.toContain(name)
  })

  test('when stdout and stderr lines come in another order, but not when other lines do', async () => {
    const body = (output: string) => ({
      model: 'm',
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'run', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: output },
      ],
      tools: [{ type: 'function', function: { name: 'run' } }],
    })
    const path = '/v1/chat/completions'
    const end = '<shellId: 1 completed with exit code 0>'
    const recording = open({ mode: 'record', upstream: speaker(text('one'), text('two')) })
    await ask(recording.responder, body(`out\nerr\n${end}`), path)
    await ask(recording.responder, body('plain\nlines'), path)
    recording.finish()
    const { responder } = open({})
    expect((await ask(responder, body(`err\nout\n${end}`), path)).reading.text).toBe('one')
    for (const other of [`err\nout\nmore\n${end}`, `err\nouts\n${end}`, 'lines\nplain'])
      expect(await responder.answer(incoming(body(other), path))).toMatchObject({ kind: 'mismatch' })
  })

  test.each(['/v1/chat/completions', '/v1/responses', '/v1beta/models/m:streamGenerateContent?alt=sse'])(
    'in the format of %s',
    async (path) => {
      const body = {
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      }
      const recording = open({ mode: 'record', upstream: speaker(text('it is in /tmp/one/ws, sk-secret')) })
      const original = await ask(recording.responder, body, path)
      recording.finish()
      const replayed = await ask(open({ places: there }).responder, body, path)
      expect(original.reading.text).toBe('it is in /tmp/one/ws, sk-secret')
      expect(replayed.reading).toEqual({ ...original.reading, text: 'it is in /srv/two/work, [REDACTED]' })
    },
  )

  test('twice, byte for byte', async () => {
    await record(['a', 'b'], speaker(text('one'), text('two')))
    const hearAll = async () => {
      const { responder } = open({})
      return [await ask(responder, talk('a')), await ask(responder, talk('b'))]
    }
    expect(await hearAll()).toEqual(await hearAll())
  })

  test('the same request in the order of the answers, and then the last answer again', async () => {
    await record(['a', 'a'], speaker(text('first'), text('second')))
    const { responder } = open({})
    const heard = []
    for (let time = 0; time < 3; time += 1) heard.push((await ask(responder, talk('a'))).reading.text)
    expect(heard).toEqual(['first', 'second', 'second'])
  })

  test('a text that the stream had split in the middle of a path', async () => {
    const cut = (words: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: words },
    })
    const events = [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      cut('see /tmp/o'),
      cut('ne/ws/a'),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const headers = { 'content-type': 'text/event-stream', 'request-id': 'req_1', 'set-cookie': 'a=b' }
    await record(['a'], speaker({ kind: 'verbatim', status: 200, headers, body }))
    const answer = await ask(open({ places: there }).responder, talk('a'))
    expect(answer.reading.text).toBe('see /srv/two/work/a')
    expect(fileOf('0001.json')).not.toMatch(/req_1|a=b/)
  })

  test('no secret reaches the disk', async () => {
    await record(['my key is sk-secret'], speaker(text('sk-secret, really')))
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain('sk-secret')
    const answer = await ask(open({}).responder, talk('my key is sk-secret'))
    expect(answer.reading.text).toBe('[REDACTED], really')
  })
})

describe('failed answers are not recorded', () => {
  const failure = (status: number): Reply => ({ kind: 'failure', failure: { status, message: 'no' } })

  test.each([429, 529, 500, 401])('%i, because the agent will retry', async (status) => {
    const cassette = open({ mode: 'record', upstream: speaker(failure(status), text('yes')) })
    expect((await ask(cassette.responder, talk('a'))).status).toBe(status)
    await ask(cassette.responder, talk('a'))
    cassette.finish()
    expect(readCassette(dir).exchanges).toMatchObject([{ status: 200, text: 'yes' }])
  })

  test('400 and 404 are answers', async () => {
    const cassette = open({ mode: 'record', upstream: speaker(failure(404)) })
    await ask(cassette.responder, talk('a'))
    cassette.finish()
    expect((await ask(open({}).responder, talk('a'))).status).toBe(404)
  })

  test('a stream that was cut', async () => {
    const body = ['event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1"}}\n\n']
    const headers = { 'content-type': 'text/event-stream' }
    const cassette = open({
      mode: 'record',
      upstream: speaker({ kind: 'verbatim', status: 200, headers, body }),
    })
    await ask(cassette.responder, talk('a'))
    cassette.finish()
    expect(readCassette(dir).exchanges).toEqual([])
  })
})

describe('a call that the cassette does not contain', () => {
  test('is reported with a diff to the nearest exchange', async () => {
    await record(['Do the thing.', 'Sing a song.'], speaker(text('done')))
    const reply = await open({}).responder.answer(incoming(talk('Do the other thing.')))
    expect(reply.kind).toBe('mismatch')
    const problem = reply.kind === 'mismatch' ? reply.problem : ''
    expect(problem).toContain('Nearest is exchange 1 of 2')
    expect(problem).toContain('-Do the thing.\n+Do the other thing.')
    expect(problem).toContain('--replay record')
    expect(problem).not.toContain('"messages"')
  })

  test('is reported in at most about sixty lines, however much has changed', async () => {
    await record([Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')], speaker(text('done')))
    const other = Array.from({ length: 500 }, (_, at) => `${'x'.repeat(400)} ${at}`).join('\n')
    const reply = await open({}).responder.answer(incoming(talk(other)))
    const problem = reply.kind === 'mismatch' ? reply.problem : ''
    expect(problem.split('\n').length).toBeLessThan(70)
    expect(problem.length).toBeLessThan(20_000)
  })

  test('is sent to the model and added by auto', async () => {
    await record(['a'], speaker(text('one')))
    const upstream = speaker(text('two'))
    const cassette = open({ mode: 'auto', upstream })
    expect((await ask(cassette.responder, talk('a'))).by).toBe('replay')
    expect((await ask(cassette.responder, talk('b'))).by).toBe('record')
    expect((await ask(cassette.responder, talk('b'))).by).toBe('replay')
    cassette.finish()
    expect(upstream.calls).toBe(1)
    expect(cassette.summary()).toEqual({ recorded: 1, replayed: 2, unused: 0 })
    expect(readCassette(dir)).toMatchObject({ complete: true, exchanges: [{ text: 'one' }, { text: 'two' }] })
  })

  test('is a mismatch in auto when there is no upstream model', async () => {
    const reply = await open({ mode: 'auto' }).responder.answer(incoming(talk('a')))
    expect(reply.kind).toBe('mismatch')
  })
})

describe('a recording that was interrupted', () => {
  test('is incomplete for strict, and auto continues it', async () => {
    const broken = open({ mode: 'record', upstream: speaker(text('one')) })
    await ask(broken.responder, talk('a'))
    rmSync(`${dir}.lock`)
    expect(() => open({})).toThrow(/incomplete/)
    const cassette = open({ mode: 'auto', upstream: speaker(text('two')) })
    expect((await ask(cassette.responder, talk('a'))).reading.text).toBe('one')
    await ask(cassette.responder, talk('b'))
    cassette.finish()
    expect(readCassette(dir)).toMatchObject({ complete: true, exchanges: [{}, {}] })
  })

  test('is complete once auto has finished without a missing exchange', async () => {
    await ask(open({ mode: 'record', upstream: speaker(text('one')) }).responder, talk('a'))
    rmSync(`${dir}.lock`)
    const cassette = open({ mode: 'auto' })
    await ask(cassette.responder, talk('a'))
    cassette.finish()
    expect((await ask(open({}).responder, talk('a'))).reading.text).toBe('one')
  })

  test('keeps the old cassette', async () => {
    await record(['a'], speaker(text('old')))
    const broken = open({ mode: 'record', upstream: speaker(text('new')) })
    await ask(broken.responder, talk('a'))
    expect((await ask(open({}).responder, talk('a'))).reading.text).toBe('old')
    broken.abandon()
    await record(['a'], speaker(text('newer')))
    expect((await ask(open({}).responder, talk('a'))).reading.text).toBe('newer')
    expect(readdirSync(fixture.path)).toEqual(['tape'])
  })

  test('is recovered when a crash happened between the two renames', async () => {
    await record(['a'], speaker(text('kept')))
    const { renameSync } = await import('node:fs')
    renameSync(dir, `${dir}.old`)
    expect((await ask(open({}).responder, talk('a'))).reading.text).toBe('kept')
  })
})

describe('damage', () => {
  beforeEach(() => record(['a', 'b'.repeat(3_000)], speaker(text('c'.repeat(3_000)), text('d'))))

  test('JSON that does not parse names its file', () => {
    writeFileSync(join(dir, '0002.json'), '{')
    expect(() => open({})).toThrow(/0002\.json is not valid JSON/)
  })

  test('an invalid field is named', () => {
    writeFileSync(join(dir, '0002.json'), fileOf('0002.json').replace('"status": 200', '"status": "fine"'))
    expect(() => open({})).toThrow(/0002\.json .* at response\.status/)
  })

  test('a missing exchange, in the middle and at the end', () => {
    rmSync(join(dir, '0002.json'))
    expect(() => open({})).toThrow(/0002\.json is missing/)
    rmSync(join(dir, '0001.json'))
    expect(() => open({})).toThrow(/0001\.json is missing/)
  })

  test('a missing text is reported at opening', () => {
    rmSync(join(dir, 'blobs'), { recursive: true })
    expect(() => open({})).toThrow(/blobs.* is missing/)
  })

  test('an edited text is used as it is now', async () => {
    const blob = readdirSync(join(dir, 'blobs')).find((name) => fileOf(`blobs/${name}`).startsWith('c'))
    writeFileSync(join(dir, 'blobs', blob ?? ''), 'edited')
    expect((await ask(open({}).responder, talk('a'))).reading.text).toBe('edited')
  })

  test('another format version is reported with the Gantry that wrote it and a hint', () => {
    writeFileSync(join(dir, 'cassette.json'), JSON.stringify({ format: 7, gantry: '9.9.9' }))
    expect(() => open({})).toThrow(/format 7, recorded by Gantry 9\.9\.9/)
  })

  test('an edited request is a different request', async () => {
    writeFileSync(join(dir, '0001.json'), fileOf('0001.json').replace('"text": "a"', '"text": "z"'))
    expect((await ask(open({}).responder, talk('z'))).reading.text).toBe('c'.repeat(3_000))
    expect((await open({}).responder.answer(incoming(talk('a')))).kind).toBe('mismatch')
  })
})

describe('paths without a cassette', () => {
  test('strict wants one', () => {
    expect(() => open({})).toThrow(/there is no cassette/)
    expect(hasCassette(dir)).toBe(false)
  })

  test('an empty directory is accepted; a directory with other files and a plain file are refused', async () => {
    await fixture.mkdir('tape')
    open({ mode: 'record', upstream: speaker(text('x')) }).finish()
    expect(hasCassette(dir)).toBe(true)
    await fixture.mkdir('other')
    await fixture.writeFile('other/notes.txt', 'mine')
    const other = fixture.getPath('other')
    expect(() => open({ dir: other, mode: 'record', upstream: speaker() })).toThrow(/is not a cassette/)
    expect(() => open({ dir: join(other, 'notes.txt') })).toThrow(/not a directory/)
    expect(readdirSync(other)).toEqual(['notes.txt'])
    expect(readdirSync(fixture.path).sort()).toEqual(['other', 'tape'])
  })

  test('a directory below a file is refused', async () => {
    await fixture.writeFile('file', '')
    const below = fixture.getPath('file/tape')
    expect(() => open({ dir: below, mode: 'record', upstream: speaker() })).toThrow(/not a directory/)
  })

  test('a full disk is reported by finish, not to the agent', async () => {
    const cassette = open({ mode: 'record', upstream: speaker(text('fine')) })
    rmSync(dir, { recursive: true })
    writeFileSync(dir, '')
    expect((await ask(cassette.responder, talk('a'))).reading.text).toBe('fine')
    expect(() => cassette.finish()).toThrow(/cannot write/)
  })

  test('two processes cannot record into the same cassette', async () => {
    const lock = acquireLock(`${dir}.lock`, { label: 'somebody else' })
    expect(() => open({ mode: 'record', upstream: speaker() })).toThrow(/somebody else.* is recording/)
    const reply = await open({ mode: 'auto', upstream: speaker(text('x')) }).responder.answer(
      incoming(talk('a')),
    )
    expect(reply).toMatchObject({ kind: 'mismatch', problem: expect.stringContaining('is recording') })
    lock?.release()
  })
})

describe('a growing conversation', () => {
  async function sizeOf(turns: number): Promise<number> {
    const place = fixture.getPath(`talk-${turns}`)
    const cassette = open({ dir: place, mode: 'record', upstream: speaker(text('an answer of some length')) })
    const messages: unknown[] = []
    for (let turn = 0; turn < turns; turn += 1) {
      messages.push({ role: 'user', content: `question ${turn} ${'q'.repeat(300)}` })
      await ask(cassette.responder, talk('', { messages: [...messages], system: 's'.repeat(5_000) }))
      messages.push({ role: 'assistant', content: `answer ${turn}` })
    }
    cassette.finish()
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    return files.reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0)
  }

  test('takes space in proportion to its length', async () => {
    const [ten, forty] = [await sizeOf(10), await sizeOf(40)]
    expect(forty / ten).toBeLessThan(4.2)
  })

  test('is shown exchange by exchange', async () => {
    const cassette = open({ mode: 'record', upstream: speaker(text('sum'), text('sum2')) })
    await ask(cassette.responder, talk('first\nquestion'))
    cassette.finish()
    const { exchanges, facts, complete } = readCassette(dir)
    expect({ facts, complete }).toEqual({ facts: { agent: 'test' }, complete: true })
    expect(exchanges).toEqual([
      {
        index: 1,
        api: 'anthropic',
        kind: 'turn',
        model: 'm',
        lastMessage: 'user: first question',
        status: 200,
        text: 'sum',
        toolCalls: [],
        tokens: expect.objectContaining({ input: 10, output: 5 }),
      },
    ])
  })
})
