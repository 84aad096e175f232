import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { AgentHooks, AgentRequest } from '../contract.ts'
import { createAgent } from '../index.ts'

const fixtures: FsFixture[] = []
afterAll(async () => {
  for (const fixture of fixtures) await fixture.rm()
})

describe.concurrent('a script', () => {
  test('is chosen by case, attempt, prompt and model; all conditions must match', async () => {
    const script = {
      name: 's',
      scripts: [
        { when: { case: 'flaky', attempt: 1 }, turns: [{ say: 'first' }] },
        { when: { case: 'flaky', model: 'big' }, turns: [{ say: 'big' }] },
        { when: { case: 'flaky' }, turns: [{ say: 'later' }] },
        { when: { prompt_contains: 'needle' }, turns: [{ say: 'found' }] },
      ],
      turns: [{ say: 'default' }],
    }
    const said = async (env: Record<string, string>, request: Partial<AgentRequest> = {}) =>
      (await play(script, { env, ...request })).outcome.finalText
    expect(await said({ GANTRY_SCENARIO: 'flaky', GANTRY_ATTEMPT: '1' })).toBe('first')
    expect(await said({ GANTRY_SCENARIO: 'flaky', GANTRY_ATTEMPT: '2' })).toBe('later')
    expect(await said({ LLM_TOOL_TEST_SCENARIO: 'flaky', GANTRY_ATTEMPT: '2' }, { model: 'big' })).toBe('big')
    expect(await said({ GANTRY_SCENARIO: 'flaky' })).toBe('first')
    expect(await said({}, { prompt: 'hay needle hay' })).toBe('found')
    expect(await said({})).toBe('default')
  })

  test('that has nothing for a prompt did not start', async () => {
    const { outcome } = await play({ name: 's', scripts: [{ when: { prompt: 'x' }, turns: [] }] })
    expect(outcome).toMatchObject({ ending: 'not_started', failure: { reason: 'unavailable' } })
  })

  test('reports the name of the agent', async () => {
    const { events } = await play({ name: 'fixer', version: '1.2', turns: [] }, { model: 'big' })
    expect(events[1]).toEqual({ event: 'session', agent: 'fixer', agent_version: '1.2', model: 'big' })
  })

  test('runs commands with their real exit code, output and time', async () => {
    const { events, transcript } = await play({
      name: 's',
      turns: [{ run: 'echo out; echo err >&2; exit 4' }],
    })
    expect(events.filter(isTool)).toEqual([
      {
        event: 'tool_call',
        id: 'tool_1',
        tool: 'Bash',
        command: expect.any(String),
        input: expect.any(Object),
      },
      {
        event: 'tool_result',
        id: 'tool_1',
        output: 'out\nerr\n',
        exit_code: 4,
        is_error: true,
        duration_secs: expect.any(Number),
      },
    ])
    expect(transcript).toContain('$ echo out; echo err >&2; exit 4\n')
    expect(transcript).toContain('err\n')
  })

  test('continues after a command that timed out', async () => {
    const { events, outcome } = await play({
      name: 's',
      turns: [{ run: 'sleep 60', timeout: '50ms' }, { say: 'next' }],
    })
    const result = events.find(({ event }) => event === 'tool_result')
    expect(result).toMatchObject({ is_error: true, output: '[stopped after 50 ms]\n' })
    expect(result).not.toHaveProperty('exit_code')
    expect(outcome).toMatchObject({ ending: 'exited', finalText: 'next' })
  })

  test('reads, edits and deletes files, and keeps their mode', async () => {
    const { workspace, events } = await play(
      {
        name: 's',
        turns: [
          { read: 'a.sh' },
          { edit: { path: 'a.sh', old: 'one', new: '$& two' } },
          { delete: 'b.txt' },
          { read: 'b.txt' },
        ],
      },
      {},
      (dir) => {
        writeFileSync(join(dir, 'a.sh'), 'echo one\n', { mode: 0o755 })
        writeFileSync(join(dir, 'b.txt'), '')
      },
    )
    expect(readFileSync(join(workspace, 'a.sh'), 'utf8')).toBe('echo $& two\n')
    expect(statSync(join(workspace, 'a.sh')).mode & 0o111).toBe(0o111)
    expect(results(events)).toEqual([
      ['echo one\n', undefined],
      ['Edited a.sh.', undefined],
      ['Deleted b.txt.', undefined],
      ['b.txt does not exist.', true],
    ])
  })

  test('an edit fails when its text is missing or not unique', async () => {
    const edit = (old: string) => ({ edit: { path: 'a.txt', old, new: 'z' } })
    const { workspace, events } = await play({ name: 's', turns: [edit('y'), edit('x')] }, {}, (dir) =>
      writeFileSync(join(dir, 'a.txt'), 'x x'),
    )
    expect(results(events)).toEqual([
      ['The text was not found in a.txt.', true],
      ['The text occurs 2 times in a.txt.', true],
    ])
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('x x')
  })

  test('never writes outside its workspace, not even through a symlink', async () => {
    const write = (path: string) => ({ write: { path, content: 'bad' } })
    const turns = [
      write('../out.txt'),
      write('link/out.txt'),
      write('/tmp/out.txt'),
      write('dir'),
      { delete: 'dir' },
    ]
    const { workspace, events } = await play({ name: 's', turns }, {}, (dir) => {
      mkdirSync(join(dir, 'dir'))
      symlinkSync('..', join(dir, 'link'))
    })
    expect(results(events).map(([, isError]) => isError)).toEqual([true, true, true, true, true])
    expect(() => statSync(join(workspace, '../out.txt'))).toThrow()
  })

  test('fakes a tool and a command without doing anything', async () => {
    const tool = { name: 'Bash', input: { command: 'touch made.txt' }, output: 'done', exit_code: 0 }
    const { workspace, events } = await play({ name: 's', turns: [{ tool }, { lie: { claim: 'npm test' } }] })
    expect(() => statSync(join(workspace, 'made.txt'))).toThrow()
    expect(events.filter(isTool)).toEqual([
      { event: 'tool_call', id: 'tool_1', tool: 'Bash', command: 'touch made.txt', input: tool.input },
      { event: 'tool_result', id: 'tool_1', output: 'done', exit_code: 0 },
    ])
    expect(events).toContainEqual({
      event: 'message',
      role: 'assistant',
      text: 'I ran `npm test`: it passed with exit code 0.',
    })
  })

  test('adds up tokens and cost', async () => {
    const { outcome } = await play({
      name: 's',
      turns: [
        { usage: { input_tokens: 5, cost_usd: 0.25 } },
        { usage: { output_tokens: 7, cache_read_tokens: 2 } },
      ],
    })
    expect(outcome).toMatchObject({
      costUsd: 0.25,
      tokens: { input: 5, output: 7, cacheRead: 2, cacheWrite: 0 },
    })
  })

  test('that overspends ends at the cap, or at the time limit without one', async () => {
    const script = { name: 's', turns: [{ overspend: 0.4 }] }
    const capped = await play(script, { maxCostUsd: 1 })
    expect(capped.outcome.ending).toBe('over_budget')
    expect(capped.outcome.costUsd).toBeCloseTo(1.2)
    expect((await play(script, { timeoutMs: 60 })).outcome.ending).toBe('timed_out')
  })

  test('stops at its time limit in the middle of waiting and of a command', async () => {
    for (const turns of [[{ wait: '1h' }], [{ run: 'sleep 300' }]]) {
      expect((await play({ name: 's', turns }, { timeoutMs: 60 })).outcome.ending).toBe('timed_out')
    }
  })

  test('crashes with an exit code, and reports infrastructure failures', async () => {
    expect((await play({ name: 's', turns: [{ crash: { exit: 139 } }] })).outcome).toMatchObject({
      ending: 'exited',
      exitCode: 139,
    })
    const { outcome } = await play({
      name: 's',
      turns: [{ infra: { reason: 'auth', message: 'no key' } }, { say: 'x' }],
    })
    expect(outcome).toMatchObject({
      exitCode: 1,
      finalText: null,
      failure: { reason: 'auth', message: 'no key' },
    })
  })
})

describe.concurrent('hooks', () => {
  test('that deny a tool prevent it', async () => {
    const after: unknown[] = []
    const { workspace, events } = await play(
      { name: 's', turns: [{ run: 'touch made.txt' }, { write: { path: 'b.txt', content: '' } }] },
      {
        hooks: {
          beforeTool: async ({ tool }) =>
            tool === 'Bash' ? { kind: 'deny', reason: 'no shell' } : { kind: 'allow' },
          afterTool: async (result) => void after.push(result),
        },
      },
    )
    expect(results(events)).toEqual([
      ['no shell', true],
      ['Wrote b.txt.', undefined],
    ])
    expect(() => statSync(join(workspace, 'made.txt'))).toThrow()
    expect(after).toEqual([
      {
        id: expect.any(String),
        tool: 'Write',
        input: { file_path: 'b.txt', content: '' },
        output: 'Wrote b.txt.',
      },
    ])
  })

  test('that hang do not prevent the agent from being stopped', async () => {
    const never = () => new Promise<never>(() => {})
    const script = { name: 's', turns: [{ run: 'true' }] }
    for (const hooks of [{ beforeTool: never }, { afterTool: never }, { beforeStop: never }]) {
      expect((await play(script, { hooks, timeoutMs: 60 })).outcome.ending).toBe('timed_out')
    }
  })

  test('that refuse the end make the agent continue, while it has turns left', async () => {
    let asked = 0
    const beforeStop: AgentHooks['beforeStop'] = async () => {
      asked += 1
      return { kind: 'refuse', reason: `verify first (${asked})` }
    }
    const script = {
      name: 's',
      turns: [{ say: 'one' }],
      on_stop_refused: [[{ say: 'two' }], [{ say: 'three' }]],
    }
    const { events, outcome } = await play(script, { hooks: { beforeStop } })
    expect(events.flatMap((event) => (event.event === 'message' ? [event.text] : []))).toEqual([
      'one',
      'verify first (1)',
      'two',
      'verify first (2)',
      'three',
      'verify first (3)',
    ])
    expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0 })
  })
})

function isTool({ event }: Untimed<AgentEvent>): boolean {
  return event === 'tool_call' || event === 'tool_result'
}

function results(events: readonly Untimed<AgentEvent>[]): (readonly [string, boolean | undefined])[] {
  return events.flatMap((event) =>
    event.event === 'tool_result' ? [[event.output, event.is_error] as const] : [],
  )
}

async function play(
  script: object,
  request: Partial<AgentRequest> = {},
  prepare: (workspace: string) => void = () => {},
) {
  const fixture = await createFixture({ 'script.yaml': JSON.stringify(script), 'workspace/.keep': '' })
  fixtures.push(fixture)
  const workspace = fixture.getPath('workspace')
  prepare(workspace)
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const driver = createAgent(
    's',
    { driver: 'scripted', script: './script.yaml', models: [] },
    { base: fixture.path },
  )
  const outcome = await driver.run({
    prompt: 'Do it.',
    workspace,
    model: 'default',
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    transcript: (chunk) => chunks.push(chunk),
    ...request,
    env: { PATH: process.env.PATH ?? '', ...request.env },
  })
  return { outcome, events, workspace, transcript: Buffer.concat(chunks).toString('utf8') }
}
