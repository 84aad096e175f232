import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBuiltinAgent } from '../agents/builtin/builtin.ts'
import { builtinToolCall } from '../agents/builtin/hooks.ts'
import { builtinAgentSchema } from '../agents/builtin/schema.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import { type Boundary, endpointVariables, type IncomingCall } from '../models/boundary/contract.ts'
import { openBoundary } from '../models/boundary/open-boundary.ts'
import { createScriptResponder } from '../models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../models/boundary/script/schema.ts'
import { createBudget } from '../models/budget.ts'
import { resolveModel } from '../models/index.ts'
import { rules } from '../rules/index.ts'
import { guardHooks } from './guard-hooks.ts'
import { ledgerFiles, readLedger } from './ledger/read-ledger.ts'
import { openGuard } from './open-guard.ts'

// The agent, its client, the wire, the guard and its ledger are real; only the model is a script behind the boundary.
let boundary: Boundary
const fixtures: FsFixture[] = []
beforeAll(async () => {
  boundary = await openBoundary()
})
afterAll(async () => {
  await boundary.close()
  for (const fixture of fixtures) await fixture.rm()
})

const project = {
  'AGENTS.md': '# For agents\n\n## Verification\n\n- `node --test`\n',
  'harness.json': '{ "middleware": { "pre_completion_checklist": { "max_refusals": 3 } } }\n',
  'package.json': '{ "type": "module" }\n',
  'src/add.js': 'export const add = (a, b) => a - b\n',
  'test/add.test.js':
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { add } from '../src/add.js'\ntest('adds', () => assert.equal(add(1, 2), 3))\n",
}

const wrong = (n: number) => ({
  calls: [{ write: { path: 'src/add.js', content: `export const add = (a, b) => a - b // ${n}\n` } }],
})
const right = { write: { path: 'src/add.js', content: 'export const add = (a, b) => a + b\n' } }

test('a whole session, from a denied file over a refused stop to VERIFIED', async () => {
  const played = await play([
    { calls: [{ write: { path: '.env', content: 'SECRET=1\n' } }] },
    { calls: [{ run: "printf 'SECRET=1' > .env" }] },
    wrong(1),
    wrong(2),
    wrong(3),
    wrong(4),
    wrong(5),
    { text: 'Done, all tests pass.' },
    { calls: [{ run: 'node --test' }] },
    { text: 'Really done.' },
    { calls: [right] },
    { text: 'Now it is.' },
    { calls: [{ run: 'node --test' }] },
    { text: 'Verified.' },
  ])
  expect(played.outcome).toMatchObject({ ending: 'exited', finalText: 'Verified.', failure: null })

  // Denied for every tool.
  expect(existsSync(join(played.root, '.env'))).toBe(false)
  const [written, printed] = played.results()
  for (const result of [written, printed])
    expect(result).toMatchObject({ is_error: true, output: expect.stringMatching(/^Gantry guard:.*\.env/s) })

  // The start context is in the system prompt of the first call.
  expect(played.system(0)).toContain('Facts about this project, gathered by its guard')
  expect(played.system(0)).toContain('node --test')

  // The model gets the loop warning with the edit that completes the loop.
  const edits = played.results().filter(({ output }) => output.includes('add.js'))
  expect(edits.some(({ output }) => /loop|edited .* times/i.test(output))).toBe(true)

  // Refused without a run, with a red run, and with a run older than the last edit.
  const refusals = played.messages('system')
  expect(refusals).toHaveLength(3)
  for (const text of refusals) expect(text).toMatch(/^Gantry guard:[\s\S]*node --test/)

  const ends = played.notes('ended')
  expect(ends.map(({ state }) => state)).toEqual(['VERIFIED'])
  expect(played.notes('refused_stop')).toHaveLength(3)
  expect(played.notes('evidence').map(({ evidence }) => evidence.exitCode)).toEqual([1, 0])
})

test('a turn that only answers may end', async () => {
  const { outcome, notes } = await play([
    { calls: [{ read: { path: 'src/add.js' } }] },
    { text: 'It subtracts.' },
  ])
  expect(outcome.finalText).toBe('It subtracts.')
  expect([...notes('ended'), ...notes('refused_stop')]).toEqual([])
})

test('a command stopped before its end proves nothing', async () => {
  const slow =
    "import test from 'node:test'\ntest('waits', () => new Promise((done) => setTimeout(done, 60_000)))\n"
  const { notes, messages } = await play([
    { calls: [right, { write: { path: 'test/slow.test.js', content: slow } }] },
    { calls: [{ tool: { name: 'run', input: { command: 'node --test', timeout_secs: 1 } } }] },
    { text: 'Done.' },
    { calls: [{ run: 'rm test/slow.test.js' }] },
    { calls: [{ run: 'node --test' }] },
    { text: 'Done.' },
  ])
  expect(messages('system')).toHaveLength(1)
  expect(notes('no_evidence')).toMatchObject([{ command: 'node --test', why: 'it was interrupted' }])
  expect(notes('evidence').map(({ evidence }) => evidence.exitCode)).toEqual([0])
  expect(notes('ended').map(({ state }) => state)).toEqual(['VERIFIED'])
})

test('a failing guard denies every tool and refuses one stop', async () => {
  const { outcome, root, results, messages, notices } = await play(
    [{ calls: [{ run: 'touch made' }] }, { text: 'Done.' }, { text: 'Done, I said.' }],
    // The ledger cannot be written, because a file is in the place of its directory.
    { guardHome: (top) => join(top, 'app/package.json/guard') },
  )
  expect(existsSync(join(root, 'made'))).toBe(false)
  expect(results()[0]).toMatchObject({
    is_error: true,
    output: expect.stringContaining('the guard itself failed'),
  })
  expect(messages('system')).toEqual([expect.stringContaining('the guard itself failed')])
  expect(outcome).toMatchObject({ ending: 'exited', finalText: 'Done, I said.' })
  expect(notices.join('\n')).toContain('allowed to stop without a verdict')
})

interface PlayOptions {
  readonly guardHome?: (top: string) => string
}

async function play(turns: readonly object[], { guardHome = (top) => join(top, 'guard') }: PlayOptions = {}) {
  const files = Object.entries(project).map(([name, text]) => [`app/${name}`, text])
  const fixture = await createFixture({ ...Object.fromEntries(files), 'home/keep': '' })
  fixtures.push(fixture)
  const top = realpathSync(fixture.path)
  const root = join(top, 'app')
  const env = { HOME: join(top, 'home'), PATH: process.env.PATH ?? '', LANG: 'C.UTF-8' }
  execFileSync('git', ['init', '--quiet'], { cwd: root, env })
  const calls: IncomingCall[] = []
  const responder = createScriptResponder(boundaryScriptSchema.parse({ turns }), { workspace: root })
  const session = boundary.open({
    responder: {
      ...responder,
      answer: (incoming) => {
        calls.push(incoming)
        return responder.answer(incoming)
      },
    },
  })
  const agent = createBuiltinAgent({
    name: 'mine',
    config: builtinAgentSchema.parse({ driver: 'builtin', model: 'anthropic:some-model' }),
    openModel: (name, { env, endpoint }) =>
      resolveModel(name, {
        env: { ...env, ...(endpoint !== undefined && endpointVariables(endpoint)) },
        base: '/',
        prices: {},
        budget: createBudget(null),
      }),
  })
  const events: Untimed<AgentEvent>[] = []
  const notices: string[] = []
  const home = guardHome(top)
  const outcome = await agent.run({
    prompt: 'Make add add.',
    workspace: root,
    model: 'default',
    env,
    timeoutMs: 600_000,
    endpoint: session.endpoint,
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
    transcript: () => {},
    hooks: guardHooks({
      guard: openGuard({ rules, guardHome: home, env }),
      agent: 'builtin',
      session: 'one',
      root,
      toToolCall: builtinToolCall,
      onNotice: (text) => void notices.push(text),
    }),
  })
  await session.close()
  const notes = () =>
    ledgerFiles(home, root)
      .flatMap((path) => readLedger(home, path).entries)
      .flatMap((entry) =>
        entry.kind === 'decision' ? entry.notes : entry.kind === 'note' ? [entry.note] : [],
      )
  type AnyNote = ReturnType<typeof notes>[number]
  return {
    outcome,
    root,
    notices,
    system: (index: number) => JSON.stringify(calls[index]?.call),
    results: () => events.flatMap((event) => (event.event === 'tool_result' ? [event] : [])),
    messages: (role: string) =>
      events.flatMap((event) => (event.event === 'message' && event.role === role ? [event.text] : [])),
    notes: <Kind extends AnyNote['kind']>(kind: Kind) =>
      notes().filter((note): note is Extract<AnyNote, { kind: Kind }> => note.kind === kind),
  }
}
