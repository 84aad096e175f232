import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { HookEvent, HookEventDetail } from '../core/hook-event.ts'
import type { Rule, Scene } from '../rules/contract.ts'
import { rules as allRules } from '../rules/index.ts'
import type { FactName } from './contract.ts'
import { ledgerFiles, readLedger } from './ledger/read-ledger.ts'
import { recordedEnvironment } from './ledger/recorded-environment.ts'
import { type GuardOptions, openGuard } from './open-guard.ts'

async function project(files: Record<string, string> = {}) {
  const fixture = await createFixture({ 'app/keep.txt': '', 'home/keep.txt': '', ...files })
  const top = realpathSync(fixture.path)
  const root = join(top, 'app')
  const guardHome = join(top, 'guard')
  const env = { HOME: join(top, 'home'), PATH: process.env.PATH ?? '' }
  const open = (rules: readonly Rule[], more: Partial<GuardOptions> = {}) =>
    openGuard({ guardHome, env, rules, ...more })
  const event = (happening: HookEventDetail, more: Partial<HookEvent> = {}): HookEvent =>
    ({
      agent: 'claude-code',
      session: 's1',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: root,
      root,
      ...happening,
      ...more,
    }) as HookEvent
  const sessionEntries = () =>
    ledgerFiles(guardHome, root)
      .slice(1)
      .flatMap((path) => readLedger(guardHome, path).entries)
  return { fixture, top, root, guardHome, env, open, event, sessionEntries }
}

function shell(command: string): HookEventDetail {
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  return { kind: 'tool_before', call: { id: 't1', tool: 'Bash', action, input: { command } } }
}

function edited(path: string, id = 't1') {
  const action = { kind: 'edit', path, edits: [] } as const
  return {
    kind: 'tool_after' as const,
    call: { id, tool: 'Edit', action, input: { file_path: path } },
    outcome: {
      kind: 'success' as const,
      exitCode: null,
      output: '',
      interrupted: false,
      timedOut: false,
      background: false,
    },
  } satisfies HookEventDetail
}

const stop = { kind: 'stop', again: false, lastMessage: null, background: false } as const
const start: HookEventDetail = { kind: 'session_start', source: 'startup' }

/** A rule that records its scenes. */
function watching(wants: readonly FactName[] = [], answer: ReturnType<Rule['judge']> = null) {
  const scenes: Scene[] = []
  const rule: Rule = {
    name: 'watching',
    on: ['session_start', 'tool_before', 'tool_after', 'stop'],
    wants: () => wants,
    judge: (scene) => {
      scenes.push(scene)
      return answer
    },
  }
  return { rule, scenes }
}

test('an event and its decision are in the ledger, and the decision is found by its id', async () => {
  const { fixture, open, event, sessionEntries } = await project()
  await using _ = fixture
  const { rule } = watching([], { deny: 'no' })
  const decision = await open([rule]).handle(event(shell('ls')))
  expect(decision.id).toMatch(/^d_[a-z0-9]{16}$/)
  expect(decision.verdict).toBe('deny')
  expect(decision.reason).toBe(`no\n(gantry guard explain ${decision.id})`)
  const [first, second] = sessionEntries()
  expect(first).toMatchObject({ kind: 'event', event: { kind: 'tool_before' } })
  expect(second).toMatchObject({ kind: 'decision', id: decision.id, of: first?.id, verdict: 'deny' })
})

test('a rule sees the history including this event, and the notes of earlier decisions', async () => {
  const { fixture, root, open, event } = await project()
  await using _ = fixture
  const { rule, scenes } = watching([], { remember: [{ kind: 'warned', about: 'x' }] })
  const guard = open([rule])
  await guard.handle(event(edited(join(root, 'keep.txt'), 't1')))
  await guard.handle(event(edited(join(root, 'keep.txt'), 't2')))
  expect(scenes.map(({ history }) => history.calls.total)).toEqual([1, 2])
  expect(scenes.map(({ history }) => history.session.warned)).toEqual([[], ['x']])
})

test('only facts that a rule wants are looked up', async () => {
  const { fixture, root, open, event } = await project()
  await using _ = fixture
  const without = watching()
  await open([without.rule]).handle(event(edited(join(root, 'keep.txt'))))
  expect(without.scenes[0]?.facts).toEqual({
    tree: null,
    project: null,
    edited: [],
    verify: [],
    seal: null,
    protected: null,
    tests: null,
  })
  const withThem = watching(['tree', 'edited', 'project', 'tests', 'seal'])
  await open([withThem.rule]).handle(event(edited(join(root, 'keep.txt'))))
  const facts = withThem.scenes[0]?.facts
  expect(facts?.tree).toMatch(/^[0-9a-f]{64}$/)
  expect(facts?.edited).toEqual([
    { path: join(root, 'keep.txt'), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ])
  expect(facts?.project?.commands).toEqual([])
  expect(facts?.tests?.files).toEqual({})
  expect(facts?.seal).toBeNull()
})

test('files written by the guard do not change the fingerprint, other files do', async () => {
  const { fixture, root, open, event } = await project()
  await using _ = fixture
  const { rule, scenes } = watching(['tree'])
  const guard = open([rule])
  await guard.handle(event(start))
  await guard.handle(event(edited(join(root, 'keep.txt'))))
  mkdirSync(join(root, 'node_modules/x'), { recursive: true })
  mkdirSync(join(root, 'src/__pycache__'), { recursive: true })
  for (const path of ['node_modules/x/a.js', 'src/__pycache__/m.txt', 'm.pyc', '.coverage'])
    writeFileSync(join(root, path), 'x')
  await guard.handle(event(stop))
  writeFileSync(join(root, 'new.txt'), 'x')
  await guard.handle(event(stop))
  const [first, second, third, last] = scenes.map(({ facts }) => facts.tree)
  expect([second, third]).toEqual([first, first])
  expect(last).not.toBe(first)
})

test('the project is the top of the repository, for any directory and any link', async () => {
  const { fixture, top, root, open, event } = await project({ 'app/.git/HEAD': 'ref: refs/heads/main\n' })
  await using _ = fixture
  mkdirSync(join(root, 'packages/a'), { recursive: true })
  symlinkSync(root, join(top, 'link'))
  const { rule, scenes } = watching()
  const guard = open([rule])
  for (const place of ['app/packages/a', 'link', 'link/packages'])
    await guard.handle(event(start, { root: join(top, place) }))
  expect(scenes.map(({ event: seen }) => seen.root)).toEqual([root, root, root])
})

test('the same event under the same id counts once and gets the same decision', async () => {
  const { fixture, root, open, event, sessionEntries } = await project()
  await using _ = fixture
  const { rule, scenes } = watching([], { deny: 'no' })
  const guard = open([rule])
  const first = await guard.handle(event(edited(join(root, 'a'))), { eventId: 'e_same' })
  const second = await guard.handle(event(edited(join(root, 'a'))), { eventId: 'e_same' })
  expect(second).toEqual(first)
  expect(scenes).toHaveLength(1)
  expect(sessionEntries()).toHaveLength(2)
})

test('an event that another process answered meanwhile is not written again, and gets the same decision', async () => {
  const { fixture, root, guardHome, open, event } = await project()
  await using _ = fixture
  const { rule } = watching(['hooks'])
  const go = Promise.withResolvers<[]>()
  const slow = open([rule], { checkHooks: { notice: () => go.promise, keep: async () => [] } })
  const slowly = slow.handle(event(start), { eventId: 'e_same' })
  const first = await open([rule]).handle(event(start), { eventId: 'e_same' })
  go.resolve([])
  expect(await slowly).toEqual(first)
  const [, session = ''] = ledgerFiles(guardHome, root)
  expect(readFileSync(session, 'utf8').split('\n').filter(Boolean)).toHaveLength(2)
})

test('an event whose writer died before deciding is decided, and not written again', async () => {
  const { fixture, root, guardHome, open, event, sessionEntries } = await project()
  await using _ = fixture
  const { rule, scenes } = watching()
  const broken: Rule = {
    ...rule,
    judge: () => {
      throw new Error('died')
    },
  }
  const options = { eventId: 'e_same' }
  await expect(open([broken]).handle(event(edited(join(root, 'a'))), options)).rejects.toThrow('died')
  await open([rule]).handle(event(edited(join(root, 'a'))), options)
  expect(scenes[0]?.history.calls.total).toBe(1)
  expect(sessionEntries().map(({ kind }) => kind)).toEqual(['event', 'decision'])
  expect(existsSync(guardHome)).toBe(true)
})

test.each([
  ['a call', shell('ls'), 'deny'],
  ['a first stop', stop, 'refuse'],
  ['a repeated stop', { ...stop, again: true }, 'pass'],
  ['an edit', edited('/a'), 'pass'],
] as const)(
  '%s that is too late is recorded, and nothing is allowed by it',
  async (_name, happening, verdict) => {
    const { fixture, open, event, sessionEntries } = await project()
    await using _ = fixture
    const { rule, scenes } = watching(['tree'])
    const late = Promise.resolve('late' as const)
    await expect(open([rule]).handle(event(happening), { late })).rejects.toThrow('did not answer in time')
    expect(scenes).toEqual([])
    expect(sessionEntries()).toMatchObject([
      { kind: 'event', event: { kind: happening.kind } },
      { kind: 'decision', verdict, findings: [{ rule: 'time' }] },
    ])
  },
)

test('when time is over while facts are looked up, those found so far are recorded, and nothing more is looked up', async () => {
  const { fixture, root, open, event, sessionEntries } = await project()
  await using _ = fixture
  const { rule } = watching(['hooks', 'edited', 'protected'])
  const started = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<never[]>()
  const keep = () => {
    started.resolve()
    return slow.promise
  }
  const guard = open([rule], { checkHooks: { notice: async () => [], keep } })
  await guard.handle(event(edited(join(root, 'keep.txt'), 't1')))
  const late = started.promise.then(() => 'late' as const)
  const path = join(root, 'worktree.ts')
  const answer = guard.handle(
    event({ ...edited(path, 't2'), call: { ...edited(path, 't2').call, tool: 'worktree' } }),
    {
      late,
    },
  )
  await expect(answer).rejects.toThrow('in time')
  writeFileSync(join(root, '.env'), 'A=1')
  slow.resolve([])
  await slow.promise
  await guard.handle(event(edited(join(root, 'keep.txt'), 't3')))
  const events = sessionEntries().filter((entry) => entry.kind === 'event')
  expect(events).toHaveLength(3)
  // A look after the deadline would have taken the new file for an old one.
  expect(events[2]?.event.facts.protected).toMatchObject({
    changes: [{ path: join(root, '.env'), what: 'new' }],
  })
  expect(JSON.parse(readFileSync(join(root, '.harness/edit-tracker.json'), 'utf8'))).toEqual({
    [join(root, 'keep.txt')]: 2,
    [path]: 1,
  })
})

test('a dry run decides and writes nothing', async () => {
  const { fixture, root, open, event, sessionEntries } = await project()
  await using _ = fixture
  const { rule, scenes } = watching([], { deny: 'no' })
  const decision = await open([rule]).handle(event(shell('ls')), { dry: true })
  expect(decision.verdict).toBe('deny')
  expect(scenes[0]?.history.session.entries).toBe(1)
  expect(sessionEntries()).toEqual([])
  expect(existsSync(join(root, '.harness'))).toBe(false)
})

test('a dry stop knows which files changed, although it keeps no list of them', async () => {
  const { fixture, root, guardHome, open, event } = await project({
    'app/AGENTS.md': '- `sh test.sh`\n',
    'app/README.md': '# Shop\n',
    'app/a.ts': 'export const a = 1\n',
  })
  await using _ = fixture
  const guard = open(allRules)
  await guard.handle(event(start))
  const change = async (name: string): Promise<string> => {
    writeFileSync(join(root, name), 'other\n')
    await guard.handle(event(edited(join(root, name))))
    const trees = globSync(join(guardHome, 'projects/*/trees/*'))
    const { verdict } = await guard.handle(event(stop), { dry: true })
    expect(globSync(join(guardHome, 'projects/*/trees/*'))).toEqual(trees)
    return verdict
  }
  expect(await change('README.md')).toBe('pass')
  expect(await change('a.ts')).toBe('refuse')
})

test('with unreadable settings no tool runs, and a stop ends as INFRA', async () => {
  const { fixture, root, open, event, sessionEntries } = await project({
    'app/harness.json': '{ "middleware": ',
  })
  await using _ = fixture
  const { rule, scenes } = watching()
  const guard = open([rule])
  const denied = await guard.handle(event(shell('ls')))
  expect(denied.verdict).toBe('deny')
  expect(denied.reason).toContain(join(root, 'harness.json'))
  const stopped = await guard.handle(event(stop))
  expect(stopped.verdict).toBe('pass')
  expect(stopped.notice).toContain('harness.json')
  expect(scenes).toEqual([])
  expect(sessionEntries().at(-1)).toMatchObject({ notes: [{ kind: 'ended', state: 'INFRA' }] })
})

test('long texts are cut to the limits of the agents', async () => {
  const { fixture, open, event } = await project()
  await using _ = fixture
  const long = '😀'.repeat(20_000)
  const { rule } = watching([], { deny: long, context: long, notice: long })
  const decision = await open([rule]).handle(event(shell('ls')))
  for (const text of [decision.reason, decision.context, decision.notice]) {
    expect(text?.length).toBeLessThan(10_000)
    expect(text?.isWellFormed()).toBe(true)
  }
  expect(decision.reason?.endsWith(`(gantry guard explain ${decision.id})`)).toBe(true)
})

test('views are written in their documented shapes', async () => {
  const { fixture, root, open, event } = await project()
  await using _ = fixture
  const guard = open([watching(['edited']).rule])
  await guard.handle(event(start))
  await guard.handle(event(edited(join(root, 'a b.ts'), 't1')))
  await guard.handle(event(edited(join(root, 'a b.ts'), 't2')))
  const read = (name: string) => JSON.parse(readFileSync(join(root, '.harness', name), 'utf8'))
  expect(read('edit-tracker.json')).toEqual({ [join(root, 'a_b.ts')]: 2 })
  expect(Object.keys(read('state.json'))).toEqual([
    'session_id',
    'started_at',
    'phase',
    'current_task',
    'tasks_completed',
    'tasks_remaining',
    'iteration',
    'verification_status',
    'tdd_phase',
    'context_injected',
    'last_compacted_at',
    'discovered_verification_commands',
    'has_test_infra',
  ])
  expect(read('state.json').verification_status).toEqual({
    tests_run: false,
    tests_passed: false,
    lint_run: false,
    lint_passed: false,
    last_verified_at: null,
  })
  const trace = readFileSync(join(root, '.harness/trace-log.jsonl'), 'utf8').trim().split('\n')
  expect(trace.map((line) => JSON.parse(line).tool)).toEqual(['Edit', 'Edit'])
})

test('a link instead of the state directory is not followed, and the user is notified', async () => {
  const { fixture, top, root, open, event } = await project()
  await using _ = fixture
  mkdirSync(join(top, 'elsewhere'))
  symlinkSync(join(top, 'elsewhere'), join(root, '.harness'))
  const decision = await open([watching().rule]).handle(event(start))
  expect(existsSync(join(top, 'elsewhere/state.json'))).toBe(false)
  expect(decision.notice).toContain('.harness')
})

test('a state directory outside the project is refused in project settings, and nothing is written there', async () => {
  const { fixture, top, root, open, event } = await project()
  await using _ = fixture
  const target = join(top, 'elsewhere')
  writeFileSync(join(root, 'harness.json'), JSON.stringify({ state: { dir: target } }))
  const guard = open(allRules)
  const started = await guard.handle(event(start))
  expect(started.notice).toContain('state.dir: must be relative')
  expect(await guard.handle(event(shell('ls')))).toMatchObject({ verdict: 'deny' })
  await guard.handle(event(edited(join(root, 'keep.txt'))))
  expect(existsSync(target)).toBe(false)
})

test('the same directory is used when the user or the environment names it', async () => {
  const { fixture, top, root, guardHome, env, open, event } = await project()
  await using _ = fixture
  await open([], { env: { ...env, HARNESS_STATE_DIR: join(top, 'a') } }).handle(event(start))
  expect(existsSync(join(top, 'a/state.json'))).toBe(true)
  mkdirSync(guardHome, { recursive: true })
  writeFileSync(join(guardHome, 'harness.json'), JSON.stringify({ state: { dir: '../b' } }))
  await open([]).handle(event(start))
  expect(existsSync(join(top, 'b/state.json'))).toBe(true)
  expect(existsSync(join(root, '.harness'))).toBe(false)
})

test.each(['src', '.git/hooks', '.'])(
  '%s never gets views, and the user is notified once a session',
  async (dir) => {
    const { fixture, root, env, open, event } = await project({
      'app/src/state.json': '{"mine":1}',
      'app/.git/HEAD': 'ref: refs/heads/main',
      'app/.git/hooks/pre-commit': '#!/bin/sh',
    })
    await using _ = fixture
    const guard = open([], { env: { ...env, HARNESS_STATE_DIR: dir } })
    expect((await guard.handle(event(start))).notice).toMatch(/views of the guard are not written/)
    await guard.handle(event(edited(join(root, 'keep.txt'))))
    expect((await guard.handle(event(stop))).notice).toBeNull()
    expect(readFileSync(join(root, 'src/state.json'), 'utf8')).toBe('{"mine":1}')
    for (const name of ['edit-tracker.json', 'trace-log.jsonl', '.gitignore'])
      expect(existsSync(join(root, dir, name)), name).toBe(false)
  },
)

test('files that are not views are not changed, and the user is notified once a session', async () => {
  const foreign = {
    'app/.harness/state.json': '{"phase":"of the moon"}',
    'app/.harness/edit-tracker.json': '["not mine"]',
    'app/.harness/trace-log.jsonl': 'my notes\n',
    'app/.harness/.gitignore': '!keep',
  }
  const { fixture, top, root, open, event } = await project(foreign)
  await using _ = fixture
  const guard = open([])
  const { notice } = await guard.handle(event(start))
  expect(notice).toMatch(/are not overwritten: state\.json, edit-tracker\.json, trace-log\.jsonl\./)
  await guard.handle(event(edited(join(root, 'keep.txt'))))
  expect((await guard.handle(event(stop))).notice).toBeNull()
  for (const [path, text] of Object.entries(foreign)) expect(readFileSync(join(top, path), 'utf8')).toBe(text)
})

test('the directory of the views ignores itself, also if a denied call made it', async () => {
  const { fixture, root, open, event } = await project({})
  await using _ = fixture
  await open([watching([], { deny: 'no' }).rule]).handle(event(shell('ls')))
  await open([]).handle(event(start))
  expect(readFileSync(join(root, '.harness/.gitignore'), 'utf8')).toBe('*\n')
})

test('views of the older harness, empty files and links are replaced', async () => {
  const { fixture, top, root, open, event } = await project({
    'app/.harness/state.json': '{"session_id":null,"phase":"idle","verification_status":{"tests_run":false}}',
    'app/.harness/trace-log.jsonl': '{ "timestamp": "2026-01-01T00:00:00Z", "tool": "Edit" }\n',
    'mine.json': '{"a":1}',
  })
  await using _ = fixture
  symlinkSync(join(top, 'mine.json'), join(root, '.harness/edit-tracker.json'))
  const guard = open([])
  expect((await guard.handle(event(start))).notice).toBeNull()
  await guard.handle(event(edited(join(root, 'keep.txt'))))
  const view = (name: string) => readFileSync(join(root, '.harness', name), 'utf8')
  expect(JSON.parse(view('state.json')).session_id).toBe('s1')
  expect(JSON.parse(view('edit-tracker.json'))).toEqual({ [join(root, 'keep.txt')]: 1 })
  expect(view('trace-log.jsonl').trimEnd().split('\n')).toHaveLength(2)
  expect(readFileSync(join(top, 'mine.json'), 'utf8')).toBe('{"a":1}')
})

test('other files in a configured state directory belong to the tree', async () => {
  const { fixture, root, env, open, event } = await project({ 'app/views/.gitignore': '*\n' })
  await using _ = fixture
  const { rule, scenes } = watching(['tree'])
  const guard = open([rule], { env: { ...env, HARNESS_STATE_DIR: 'views' } })
  const treeAfter = async () => {
    await guard.handle(event(start))
    return scenes.at(-1)?.facts.tree
  }
  const before = await treeAfter()
  expect(existsSync(join(root, 'views/state.json'))).toBe(true)
  expect(await treeAfter()).toBe(before)
  writeFileSync(join(root, 'views/code.ts'), 'x')
  expect(await treeAfter()).not.toBe(before)
})

test('a guard home that cannot be written is an error, not a pass', async () => {
  const { fixture, guardHome, open, event } = await project({ guard: 'a file where a directory must be' })
  await using _ = fixture
  expect(existsSync(guardHome)).toBe(true)
  await expect(open([watching().rule]).handle(event(shell('ls')))).rejects.toThrow(/cannot/)
})

test('foreign lines in the ledger are reported to the user at the end of the turn', async () => {
  const { fixture, root, guardHome, open, event } = await project()
  await using _ = fixture
  const guard = open([watching().rule])
  await guard.handle(event(start))
  const [, session = ''] = ledgerFiles(guardHome, root)
  chmodSync(session, 0o600)
  writeFileSync(
    session,
    '{"kind":"note","id":"x","at":"","note":{"kind":"unlocked","untilMs":1e15,"by":"me"}}\n',
    {
      flag: 'a',
    },
  )
  const decision = await guard.handle(event(stop))
  expect(decision.notice).toContain('1 line not written by the guard')
})

test('a session records the search paths of its start', async () => {
  const { fixture, root, guardHome, env, open, event } = await project()
  await using _ = fixture
  await open([watching().rule]).handle(event(start))
  expect(recordedEnvironment(guardHome, root)).toMatchObject({ path: env.PATH, home: env.HOME })
})

test('events count even if the clock goes back', async () => {
  const { fixture, root, open, event } = await project()
  await using _ = fixture
  const { rule, scenes } = watching()
  const guard = open([rule])
  for (const nowMs of [2_000_000_000_000, 1_000_000_000_000, 1])
    await guard.handle(event(edited(join(root, 'a'))), { nowMs })
  expect(scenes.map(({ history }) => history.calls.total)).toEqual([1, 2, 3])
})

test('an event without a rule passes', async () => {
  const { fixture, open, event, sessionEntries } = await project()
  await using _ = fixture
  const decision = await open([]).handle(event({ kind: 'other', name: 'Notification' }))
  expect(decision.verdict).toBe('pass')
  expect(sessionEntries()).toEqual([])
})

test('the user learns once, at the end of a turn, that a hook program was put back', async () => {
  const { fixture, open, event } = await project()
  await using _ = fixture
  const resident = { ledgers: new Map(), later: (work: () => void) => work(), replaced: ['/home/dev/hook'] }
  const staying = open([], { resident })
  expect((await staying.handle(event(shell('ls')))).notice).toBeNull()
  const told = await staying.handle(event(start))
  expect(told.notice).toContain(
    'the hook program was replaced while an agent worked, and put back: /home/dev/hook',
  )
  expect((await staying.handle(event(start))).notice).toBeNull()
})

test('a process that stays answers before the views are written, and reads only what is new in the ledger', async () => {
  const { fixture, root, guardHome, open, event, sessionEntries } = await project()
  await using _ = fixture
  const pending: (() => void)[] = []
  const ledgers: NonNullable<GuardOptions['resident']>['ledgers'] = new Map()
  const { rule, scenes } = watching()
  const resident = { ledgers, later: (work: () => void) => void pending.push(work) }
  const staying = open([rule], { resident })
  const counts = () => JSON.parse(readFileSync(join(root, '.harness/edit-tracker.json'), 'utf8'))
  const path = join(root, 'a.ts')
  const finish = () => {
    for (const work of pending.splice(0)) work()
  }
  await staying.handle(event(start))
  await staying.handle(event(edited(path, 't1')))
  expect(sessionEntries().map(({ kind }) => kind)).toEqual(['event', 'decision', 'event', 'decision'])
  expect(counts()).toEqual({})
  finish()
  expect(counts()).toEqual({ [path]: 1 })
  const kept = [...ledgers.values()]
  expect(kept).toHaveLength(1)

  // Another process adds an event.
  await open([rule]).handle(event(edited(path, 't2')))
  await staying.handle(event(edited(path, 't3')))
  await staying.handle(event(edited(path, 't4')))
  finish()
  expect(counts()).toEqual({ [path]: 4 })
  const alone = open([rule])
  await staying.handle(event(shell('ls')))
  finish()
  await alone.handle(event(shell('ls'), { session: 's1' }))
  const [helped, fresh] = scenes
    .slice(-2)
    .map(({ history: { calls, edits } }) => ({ calls: calls.total, edits }))
  expect(helped).toEqual(fresh)

  // With another key, its lines would not count.
  writeFileSync(join(guardHome, 'key'), Buffer.alloc(32, 7))
  await staying.handle(event(shell('ls -l')))
  const last = ledgerFiles(guardHome, root).slice(1)
  expect(last.flatMap((file) => readLedger(guardHome, file).entries).map(({ kind }) => kind)).toEqual([
    'event',
    'decision',
  ])
})

test('a run counts for a check that a file of this session has made known before it', async () => {
  const { fixture, root, open, event } = await project({ 'app/tests/test_a.py': 'def test_a(): pass\n' })
  await using _ = fixture
  const guard = open(allRules)
  await guard.handle(event(start))
  for (const [name, text] of [
    ['app.py', 'x = 1\n'],
    ['pytest.ini', '[pytest]\naddopts = -ra\n'],
  ] as const) {
    const call = {
      id: name,
      tool: 'Edit',
      action: { kind: 'edit', path: join(root, name), edits: [] },
      input: {},
    } as const
    await guard.handle(event({ kind: 'tool_before', call }))
    writeFileSync(join(root, name), text)
    await guard.handle(event(edited(join(root, name), name)))
  }
  const { call } = shell('python3 -m pytest') as Extract<HookEventDetail, { kind: 'tool_before' }>
  await guard.handle(event({ kind: 'tool_before', call }))
  const { outcome } = edited('')
  const output = '===== 1 passed in 0.01s =====\n'
  await guard.handle(event({ kind: 'tool_after', call, outcome: { ...outcome, exitCode: 0, output } }))
  expect(await guard.handle(event(stop))).toMatchObject({ verdict: 'pass', reason: null })
})
