import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HookedAgent, hookCodecs } from '../../../src/agents/hook-codecs.ts'
import { hookInstallerOf } from '../../../src/agents/hook-installers.ts'
import type { AgentRun, GuardedProject } from '../../../src/guard/prove/contract.ts'
import { denialsIn, endsIn, notesIn, refusalsIn, textOfCall } from '../../../src/guard/prove/observations.ts'
import { readTrace } from '../../../src/guard/trace/read-trace.ts'
import { guardHome } from '../../../src/guard-engine/ledger/ledger-place.ts'
import { protectFiles } from '../../../src/rules/protect-files.ts'
import { protectItself } from '../../../src/rules/protect-itself.ts'
import { type GuardedStage, isThere, openGuardedStage, sentResults } from './guarded-stage.ts'
import { whenInstalled } from './when-installed.ts'

export interface GuardedAgentCase {
  /** How the agent runs the tests so that the guard knows how they ended. */
  verify(project: GuardedProject): string
  /** Who saw it. */
  readonly evidenceBy: 'agent' | 'guard'
  /** Its driver writes hook settings into the home it makes, and these are not sealed. */
  readonly driverSteers?: true
  /** What is peculiar to the agent. */
  readonly also?: (stage: () => GuardedStage) => void
}

/** What the guard does in a real agent, as far as the agent can: what it cannot is in its capabilities, and is shown to be so. */
export function describeGuard(agent: HookedAgent, how: GuardedAgentCase): void {
  whenInstalled([agent], `the guard in ${agent}`, () => {
    let stage: GuardedStage
    beforeAll(async () => {
      stage = await openGuardedStage(agent)
    })
    afterAll(() => stage?.close())

    describe('over a session', () => describeSession(agent, how, () => stage))
    describe('at the end of a turn', () => describeEnd(agent, how, () => stage))
    describe('when it is broken', () => describeBroken(agent, () => stage))
    how.also?.(() => stage)
  })
}

const editThreshold = 3

/** Everything but the gate, in one session. */
function describeSession(agent: HookedAgent, how: GuardedAgentCase, stage: () => GuardedStage): void {
  let project: GuardedProject
  let played: AgentRun

  /** What the agent is asked to do, and whether it may. */
  const acts = (): readonly (readonly [call: object, allowed: boolean])[] => [
    // Of `.env` Gemini CLI says itself that it is not there to be written.
    [{ write: { path: 'server.pem', content: 'A\n' } }, false],
    [{ write: { path: 'note.txt', content: 'edit 0\n' } }, true],
    [{ run: `name=env; echo A=1 > ".$name"` }, false],
    [{ run: 'echo shell > shell.txt' }, true],
    [{ write: { path: hookFile(agent, project), content: '{}\n' } }, false],
    [{ run: `rm -rf '${guardHome(project.env)}'` }, false],
    [{ run: 'gantry guard unlock' }, false],
    [{ edit: { path: 'note.txt', old: 'edit 0', new: 'edit 1' } }, true],
    [{ edit: { path: 'note.txt', old: 'edit 1', new: 'edit 2' } }, true],
  ]
  const allowed = () => acts().filter(([, isAllowed]) => isAllowed).length

  beforeAll(async () => {
    project = await stage().project({
      files: { 'AGENTS.md': '# Verification\n\n- `sh check.sh`\n', 'check.sh': 'true\n' },
      settings: {
        middleware: {
          loop_detection: { edit_threshold: editThreshold },
          pre_completion_checklist: { enabled: false },
        },
      },
    })
    played = await project.play({
      turns: [...acts().map(([call]) => ({ calls: [call] })), { text: 'Done.' }],
    })
    expect(played.outcome).toMatchObject({ ending: 'exited', failure: null })
    expect(turnsOf(played)).toHaveLength(acts().length + 1)
  })

  test('the first request to the model has the tree, the commands and the rules, and no false alarm', () => {
    const first = textOfCall(turnsOf(played)[0] ?? never())
    expect(first).toContain('Facts about this project, gathered by its guard')
    expect(first).toContain('check.sh')
    expect(first).toMatch(/`?sh check\.sh`?/)
    expect(first).toContain('harness.json')
    if (how.driverSteers === undefined) expect(first).not.toContain('differ from their seal')
  })

  test('a protected file is denied to the file tool and to the shell, and the model sees why', () => {
    expect(['.env', 'server.pem'].filter((path) => isThere(project, path))).toEqual([])
    const denials = sentResults(played).filter((text) =>
      text.includes('is protected and must not be modified'),
    )
    expect(denials).toHaveLength(2)
    expect(denialsIn(project.ledger()).filter((rule) => rule === protectFiles.name)).toHaveLength(2)
  })

  test("the agent cannot change the guard's hooks and ledger, or run commands for people", () => {
    expect(project.read(hookFile(agent, project))).toContain('gantry')
    expect(denialsIn(project.ledger()).filter((rule) => rule === protectItself.name)).toHaveLength(3)
  })

  test('everything else works as usual', () => {
    expect(project.read('note.txt')).toBe('edit 2\n')
    expect(project.read('shell.txt')).toBe('shell\n')
  })

  test('the model is warned when a file was edited too often, and not before', () => {
    const warned = turnsOf(played).map((call) => textOfCall(call).includes('This looks like a loop'))
    expect(warned.indexOf(true)).toBe(acts().length)
  })

  test('every call is judged once and traced once, those that were denied and those that ran', async () => {
    const kinds = project.ledger().flatMap((entry) => (entry.kind === 'event' ? [entry.event.kind] : []))
    expect(kinds.filter((kind) => kind === 'session_start')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'prompt')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'tool_before')).toHaveLength(acts().length)
    expect(kinds.filter((kind) => kind === 'tool_after')).toHaveLength(allowed())
    expect(kinds.filter((kind) => kind === 'stop')).toHaveLength(1)
    const trace = await readTrace({ files: [join(project.root, '.harness/trace-log.jsonl')], editThreshold })
    expect(trace.total).toBe(acts().length)
    expect(trace.results.denied).toBe(acts().length - allowed())
    expect(trace.hot_files).toMatchObject([{ edits: editThreshold, potential_loop: true }])
  })
}

/** What `play` asks when nothing else is said. */
const defaultPrompt = 'Do what the script says.'

const plan = '# Plan\n\n- [ ] Add numbers\n'
const files = {
  'AGENTS.md': '# Verification\n\n- `node --test`\n',
  'IMPLEMENTATION_PLAN.md': plan,
}
const testFile = `import { equal } from 'node:assert'
import { test } from 'node:test'
import { sum } from './sum.mjs'
test('adds', () => equal(sum(1, 2), 3))
`

function describeEnd(agent: HookedAgent, how: GuardedAgentCase, stage: () => GuardedStage): void {
  const canRefuse = hookCodecs[agent].capabilities.refuseStop.kind !== 'no'

  test('a task goes from a failing test to VERIFIED', async () => {
    const project = await stage().project({ files })
    const red = [
      { calls: [{ write: { path: 'sum.test.mjs', content: testFile } }] },
      { calls: [{ run: how.verify(project) }] },
      { calls: [{ run: 'cat .harness/state.json' }] },
      { text: 'Done.' },
    ]
    const green = [
      { calls: [{ write: { path: 'sum.mjs', content: 'export const sum = (a, b) => a + b\n' } }] },
      { calls: [{ run: how.verify(project) }] },
      { calls: [{ run: 'cat .harness/state.json' }] },
      { calls: [{ edit: { path: 'IMPLEMENTATION_PLAN.md', old: '- [ ]', new: '- [x]' } }] },
      { text: 'The tests are green.' },
    ]
    const phases: string[] = []
    if (canRefuse) {
      const played = await project.play({ turns: [...red, ...green] })
      phases.push(...phasesTold(played))
      const refused = turnsOf(played)[red.length] ?? never()
      expect(textOfCall(refused)).toContain('not done yet (refusal 1 of 2)')
      expect(textOfCall(refused)).toContain('Add numbers')
    } else {
      for (const turns of [red, green]) phases.push(...phasesTold(await project.play({ turns })))
    }
    // A separate session has seen no failing test.
    const last = canRefuse ? 'green' : 'null'
    expect(phases).toEqual(['tests passed: false, red', `tests passed: true, ${last}`])
    const ledger = project.ledger().toSorted((one, other) => (one.at < other.at ? -1 : 1))
    const runs = notesIn(ledger).flatMap((note) => (note.kind === 'evidence' ? [note] : []))
    expect(runs.map(({ by }) => by)).toEqual([how.evidenceBy, how.evidenceBy])
    expect(runs.map(({ evidence }) => evidence.exitCode === 0)).toEqual([false, true])
    expect(runs[1]?.evidence).toMatchObject({ command: 'node --test', executed: 1 })
    expect(refusalsIn(ledger)).toBe(1)
    expect(endsIn(ledger)).toEqual(['VERIFIED'])
    expect(JSON.parse(project.read('.harness/state.json') ?? '{}')).toMatchObject({
      tasks_completed: 1,
      tasks_remaining: 0,
      verification_status: { tests_run: true },
    })
  })

  if (canRefuse)
    test('a model that only claims to be done may stop after the maximum of refusals, as CAPPED', async () => {
      const project = await stage().project({ files })
      const played = await project.play({
        turns: [{ calls: [{ write: { path: 'sum.test.mjs', content: testFile } }] }, { text: 'Done.' }],
      })
      expect(played.outcome.ending).toBe('exited')
      expect(refusalsIn(project.ledger())).toBe(2)
      expect(endsIn(project.ledger())).toEqual(['CAPPED'])
      // The work, the first claim, and one more for every refusal.
      expect(turnsOf(played)).toHaveLength(2 + 2)
    })

  const hasSubagents = hookCodecs[agent].capabilities.refuseSubagentStop.kind === 'yes'
  if (hasSubagents)
    test("a subagent gets the project's facts, cannot change protected files, and must verify its claim", async () => {
      const project = await stage().project({
        files: { 'AGENTS.md': '# Verification\n\n- `sh check.sh`\n', 'check.sh': 'false\n' },
        settings: { middleware: { pre_completion_checklist: { max_refusals: 1 } } },
      })
      const order = 'Do the canary task.'
      const turns = [
        { calls: [{ write: { path: 'server.pem', content: 'A\n' } }] },
        { calls: [{ write: { path: 'sub.txt', content: 'x\n' } }] },
        { text: 'The subagent is done.' },
      ]
      const played = await project.play({
        rules: [{ when: { prompt: order }, turns }],
        turns: [{ calls: [{ subagent: { prompt: order } }] }, { text: 'Done.' }],
      })
      expect([project.read('server.pem'), project.read('sub.txt')]).toEqual([null, 'x\n'])
      const asked = turnsOf(played).map(textOfCall)
      const inSubagent = asked.filter((text) => text.includes(order) && !text.includes(defaultPrompt))
      expect(inSubagent[0]).toContain('## Verification Commands')
      expect(inSubagent).toHaveLength(turns.length + 1)
      const events = project.ledger().flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
      expect(new Set(events.map(({ session }) => session)).size).toBe(1)
      const [id, ...others] = new Set(
        events.map(({ agentId }) => agentId).filter((agentId) => agentId !== null),
      )
      expect(others).toEqual([])
      const refused = notesIn(project.ledger()).filter((note) => note.kind === 'refused_stop')
      expect(refused.map(({ agentId = null }) => agentId)).toEqual([id, null])
      expect(endsIn(project.ledger())).toEqual(['CAPPED', 'CAPPED'])
    })

  test('a question that changes nothing is answered without interruption', async () => {
    const project = await stage().project({ files: { ...files, 'IMPLEMENTATION_PLAN.md': '# Plan\n' } })
    const played = await project.play({ turns: [{ text: 'It is a project.' }] }, { prompt: 'What is this?' })
    expect(refusalsIn(project.ledger())).toBe(0)
    expect(turnsOf(played)).toHaveLength(1)
  })
}

/** A hook that cannot answer must behave as the capabilities say, so that users do not rely on a guard that lets everything pass. */
function describeBroken(agent: HookedAgent, stage: () => GuardedStage): void {
  const { failClosed } = hookCodecs[agent].capabilities
  const script = { turns: [{ calls: [{ run: 'echo written > note.txt' }] }, { text: 'Done.' }] }
  const nowhere = (): string => join(stage().hookBin, '../nowhere')

  test.each([
    ['the program of the hooks', () => ({ node: process.execPath, hookBin: join(nowhere(), 'hook-bin.js') })],
    ['the Node of the hooks', () => ({ node: join(nowhere(), 'node'), hookBin: stage().hookBin })],
  ])('without %s no tool runs', async (what, program) => {
    expect(failClosed.kind).toBe('partly')
    const project = await stage().project({ program: program() })
    const played = await project.play(script)
    expect(played.outcome.ending).toBe('exited')
    // Without Node Gemini CLI does not even take the prompt.
    if (what === 'the program of the hooks') expect(turnsOf(played)).toHaveLength(script.turns.length)
    expect(isThere(project, 'note.txt')).toBe(false)
  })

  // opencode has no limit of its own: there our plugin sets one, and closes.
  if (agent !== 'opencode')
    test('a hook that hangs times out, and the tool runs, as guard status says', async () => {
      expect(failClosed).toMatchObject({ why: expect.stringContaining('times out') })
      const hookBin = join(stage().hookBin, '../hanging/hook-bin.js')
      mkdirSync(dirname(hookBin), { recursive: true })
      writeFileSync(
        hookBin,
        `if (/^preToolUse|BeforeTool$/i.test(process.argv.at(-1))) setTimeout(() => {}, 60_000)\n`,
      )
      const project = await stage().project({ program: { node: process.execPath, hookBin } })
      const path = join(project.root, hookFile(agent, project))
      const shorter = readFileSync(path, 'utf8').replaceAll(/("timeout(?:Sec)?": )10(000)?\b/g, '$11$2')
      writeFileSync(path, shorter)
      await project.play(script)
      expect(isThere(project, 'note.txt')).toBe(true)
    })
}

function turnsOf({ calls }: AgentRun) {
  return calls.filter(({ kind }) => kind === 'turn')
}

/** Of the project, below its root. */
function hookFile(agent: HookedAgent, { root, home, env }: GuardedProject): string {
  const [path = ''] = hookInstallerOf(agent, hookCodecs[agent]).files('project', { root, home, env })
  return relative(root, path)
}

/** The view of the state each time the agent looked at it. */
function phasesTold(played: AgentRun): readonly string[] {
  return sentResults(played).flatMap((text) => {
    const [, passed, phase] = /"tests_passed": (\w+)[\s\S]*"tdd_phase": "?(\w+)"?/.exec(text) ?? []
    return passed === undefined ? [] : [`tests passed: ${passed}, ${phase}`]
  })
}

function never(): never {
  throw new Error('the model was not asked so often')
}
