import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HookRegistration } from '../hook-codec.ts'
import { guardPlugin } from './hook-config.ts'

type Hook = (input: object, output: object) => Promise<void>
type Plugin = (place: object) => Promise<Readonly<Record<string, Hook>>>

const events = (
  [
    ['tool.execute.before', 'tool_before'],
    ['tool.execute.after', 'tool_after'],
    ['experimental.chat.system.transform', 'session_start'],
    ['experimental.session.compacting', 'compact_before'],
    ['chat.message', 'prompt'],
    ['session.idle', 'stop'],
  ] as const
).map(([event, kind]): HookRegistration => ({ event, kind, timeoutSeconds: 5, mustBlock: true }))

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-opencode-'))
})

afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** The plugin as opencode would load it, with a hook program of these lines; `payload` is the program's input. */
async function plugin(program: string, registered = events): Promise<Readonly<Record<string, Hook>>> {
  const script = join(dir, 'hook-bin.mjs')
  writeFileSync(
    script,
    `import { readFileSync, appendFileSync } from 'node:fs'
const payload = JSON.parse(readFileSync(0, 'utf8'))
appendFileSync(${JSON.stringify(join(dir, 'payloads.jsonl'))}, JSON.stringify([process.argv.slice(2), payload]) + '\\n')
const say = (answer) => process.stdout.write(JSON.stringify(answer))
${program}`,
  )
  const file = join(dir, 'gantry-guard.mjs')
  const command = { program: process.execPath, args: [script, '--agent', 'opencode'] }
  writeFileSync(file, guardPlugin(command, registered))
  const module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, Plugin>>
  const [create, ...others] = Object.values(module)
  expect(others).toEqual([])
  if (create === undefined) throw new Error('the plugin exports nothing')
  return create({ directory: dir, worktree: dir })
}

const payloads = (): unknown[] =>
  readFileSync(join(dir, 'payloads.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const before = { tool: 'bash', sessionID: 's1', callID: 'c1' }

test('a denied tool is not run, and the hook program gets its arguments', async () => {
  const hooks = await plugin(`say({ deny: 'no ' + payload.args.command })`)
  await expect(hooks['tool.execute.before']?.(before, { args: { command: 'rm' } })).rejects.toThrow('no rm')
  expect(payloads()).toEqual([
    [
      ['--agent', 'opencode', 'tool.execute.before'],
      {
        hook: 'tool.execute.before',
        session: 's1',
        directory: dir,
        worktree: dir,
        tool: 'bash',
        callID: 'c1',
        args: { command: 'rm' },
      },
    ],
  ])
})

test('a tool that the guard allows is run', async () => {
  const hooks = await plugin(`say({})`)
  await hooks['tool.execute.before']?.(before, { args: {} })
})

test.each([
  ['exit code 2 without an answer', `console.error('because'); process.exit(2)`, 'because'],
  ['another exit code', `console.error('oops'); process.exit(1)`, 'exit code 1: oops'],
  ['an answer that is not JSON', `process.stdout.write('{"deny":')`, 'no JSON'],
  ['an end by a signal', `process.kill(process.pid, 'SIGKILL')`, 'exit code null'],
])('%s prevents the tool from running', async (_, program, message) => {
  const hooks = await plugin(program)
  await expect(hooks['tool.execute.before']?.(before, { args: {} })).rejects.toThrow(message)
})

test('a guard that does not answer in time prevents the tool from running', async () => {
  const quick = events.map((event) => ({ ...event, timeoutSeconds: 0.2 }))
  const hooks = await plugin(`setInterval(() => {}, 1000)`, quick)
  await expect(hooks['tool.execute.before']?.(before, { args: {} })).rejects.toThrow('within 200 ms')
})

test('a missing guard prevents the tool from running', async () => {
  const hooks = await plugin('')
  rmSync(join(dir, 'hook-bin.mjs'))
  await expect(hooks['tool.execute.before']?.(before, { args: {} })).rejects.toThrow('exit code 1')
})

test('after a tool, context and failures of the guard reach the model with the output, and nothing is thrown', async () => {
  const hooks = await plugin(
    `if (payload.output === 'bad') process.exit(3)\nsay({ context: 'saw ' + payload.metadata.exit })`,
  )
  const good = { output: 'out', metadata: { exit: 4 } }
  await hooks['tool.execute.after']?.({ ...before, args: {} }, good)
  expect(good.output).toBe('out\n\nsaw 4')
  const bad = { output: 'bad', metadata: {} }
  await hooks['tool.execute.after']?.({ ...before, args: {} }, bad)
  expect(bad.output).toContain('exit code 3')
  await hooks['tool.execute.after']?.({ ...before, args: {} }, { content: [] })
})

test('the start context is requested once per session, added every time, and requested again after a compaction', async () => {
  const hooks = await plugin(
    `say({ system: 'map of ' + payload.session + (payload.metadata?.source ?? '') })`,
  )
  const transform = hooks['experimental.chat.system.transform']
  for (const session of ['s1', 's1', 's2']) {
    const output = { system: ['own'] }
    await transform?.({ sessionID: session }, output)
    expect(output.system).toEqual(['own', `map of ${session}`])
  }
  await transform?.({}, { system: [] })
  expect(payloads()).toHaveLength(2)
  await hooks.event?.({ event: { type: 'session.compacted', properties: { sessionID: 's1' } } }, {})
  await hooks.event?.({ event: { type: 'session.created', properties: { info: { id: 's3' } } } }, {})
  const anew = { system: [] }
  for (const session of ['s1', 's3']) await transform?.({ sessionID: session }, anew)
  expect(anew.system).toEqual(['map of s1compact', 'map of s3startup'])
  expect(payloads()).toHaveLength(4)
})

test('the payload has the relay for a compaction, the text of a prompt, and the properties of an event', async () => {
  const hooks = await plugin(`say({ context: 'keep this' })`)
  const output = { context: ['a'] }
  await hooks['experimental.session.compacting']?.({ sessionID: 's1' }, output)
  expect(output.context).toEqual(['a', 'keep this'])
  await hooks['chat.message']?.(
    { sessionID: 's1' },
    { parts: [{ type: 'text', text: 'do it' }, { type: 'file' }] },
  )
  await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID: 's1' } } }, {})
  await hooks.event?.({ event: { type: 'message.updated', properties: { sessionID: 's1' } } }, {})
  expect(payloads().slice(1)).toMatchObject([
    [['--agent', 'opencode', 'chat.message'], { output: 'do it' }],
    [['--agent', 'opencode', 'session.idle'], { session: 's1', metadata: { sessionID: 's1' } }],
  ])
})

test('only registered hooks exist', async () => {
  const hooks = await plugin('', events.slice(0, 1))
  expect(Object.keys(hooks)).toEqual(['tool.execute.before', 'event'])
})

test('where opencode exits with the turn, the end is judged first; else it does not wait', async () => {
  const idle = { event: { type: 'session.idle', properties: { sessionID: 's1' } } }
  const argv = process.argv
  try {
    process.argv = [...argv, 'run']
    const hooks = await plugin(`setTimeout(() => {}, 100)`)
    const running = hooks.event?.(idle, {})
    expect(payloads()).toHaveLength(1)
    await running
  } finally {
    process.argv = argv
  }
  const hooks = await plugin(`setTimeout(() => {}, 100)`)
  const running = hooks.event?.(idle, {})
  expect(payloads()).toHaveLength(1)
  await running
  expect(payloads()).toHaveLength(2)
})
