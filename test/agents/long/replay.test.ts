import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrialRecord } from '../../../src/core/trial.ts'
import { everythingIn } from '../../e2e/boundary/lab.ts'
import { runTests } from '../../e2e/robustness/lab.ts'
import type { GantryResult, RunDocument } from '../../e2e/support/gantry.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { trialEvents, trialText } from '../../e2e/support/trial-files.ts'
import { normalEvents, normalLog } from '../support/normal-events.ts'
import {
  ageCassettes,
  filesIn,
  promptOf,
  putAgent,
  type ReplaySubject,
  replayProject,
} from '../support/replay-project.ts'
import { whenInstalled } from '../support/when-installed.ts'

type Run = RunDocument & GantryResult

const subjects: readonly (ReplaySubject & { readonly git: boolean })[] = [
  { id: 'claude-code', driver: 'claude-code', git: false },
  { id: 'claude-code-old', driver: 'claude-code', git: true },
  { id: 'codex', driver: 'codex', git: true },
  { id: 'copilot', driver: 'copilot', git: false },
]

for (const subject of subjects)
  whenInstalled([subject.id], `${subject.id}, recorded and replayed`, () => {
    let place: TestProject
    let recorded: Run
    let replays: readonly [Run, Run]
    const strict = (store: string, env: Readonly<Record<string, string>> = {}): Promise<Run> =>
      runTests(place, ['--replay', 'strict', '-j', '2'], {
        env: { AGENT_ARTIFACT_DIR: join(place.dir, '..', store), ...env },
      })

    beforeAll(async () => {
      place = replayProject(subject, subject)
      recorded = await runTests(place, ['--replay', 'record', '-j', '2'])
      putAgent(place, subject, { isScripted: false })
      const first = await strict('other')
      ageCassettes(place.path('cassettes'))
      const away = { TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8' }
      replays = [first, await strict('a-store/with-a/much-longer-path', away)]
    })
    afterAll(() => place?.[Symbol.dispose]())

    test('comes to the same verdict without a key, a script or a provider, in other places and years later', () => {
      for (const run of [recorded, ...replays]) {
        expect(run.trials.map(({ verdict, reason, ending }) => [verdict, reason, ending])).toEqual([
          ['pass', 'all 2 gates passed', 'exited'],
          ['pass', 'all 2 gates passed', 'exited'],
        ])
        expect(run.code).toBe(0)
      }
    })

    test('leaves every file of the workspace the same', () => {
      const [first, ...others] = [recorded, ...replays].map((run) => filesIn(fixtureOf(run, 'steady')))
      expect(Object.keys(first ?? {})).toEqual(
        expect.arrayContaining(['made.txt', 'sub.txt', 'notes.txt', 'AGENTS.md']),
      )
      expect(first?.['made.txt']).toBe('new line\nünï 漢字 🦀\n')
      for (const other of others) expect(other).toEqual(first)
    })

    test('gives the same events, byte for byte but for what must differ', () => {
      const [first, second] = replays.map((run) => normalEvents(trialOf(run, 'steady')))
      expect(second).toBe(first)
      expect(first).toBe(normalEvents(trialOf(recorded, 'steady')))
    })

    test('is compared by everything that happened', () => {
      const trial = trialOf(replays[0], 'steady')
      const log = trialText(trial, 'events.jsonl')
      const kept = normalEvents(trial)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      // How a call was answered must differ.
      const shown = trialEvents(trial).filter(({ event }) => event !== 'raw' && event !== 'model_call')
      expect(kept.filter(({ event }) => event !== 'raw').map(essence)).toEqual(
        shown.map((event) => essence(event as unknown as Record<string, unknown>)),
      )
      expect(trialEvents(trial, 'tool_call').length).toBeGreaterThanOrEqual(6)
      for (const [word, other] of [
        ['a first note', 'a first node'],
        ['sleep 0.3; cat second.txt', 'sleep 0.4; cat second.txt'],
        ['I look first.', 'I look fast.'],
        ['"passed":true', '"passed":false'],
        ['"ending":"exited"', '"ending":"crashed"'],
      ] as const) {
        expect(log).toContain(word)
        expect(normalLog(log.replaceAll(word, other), trial.dir)).not.toBe(normalEvents(trial))
      }
    })

    test('shows what changed: the prompt of one scenario, a file that the other reads', async () => {
      const changed = 'Look at the steady notes today.'
      place.write({
        'scenarios/steady.yaml': place.read('scenarios/steady.yaml').replace(promptOf('steady'), changed),
        'fixtures/shaky/second.txt': 'a changed file\n',
      })
      const run = await strict('changed')
      expect(run.code).toBe(2)
      expect(run.trials.map(({ verdict }) => verdict)).toEqual(['invalid', 'invalid'])
      const prompt = trialOf(run, 'steady').reason
      expect(linesWith(prompt, promptOf('steady'))).toEqual(['-'])
      expect(linesWith(prompt, changed)).toEqual(['+'])
      const file = trialOf(run, 'shaky').reason
      expect(linesWith(file, 'a second file')).toEqual(['-'])
      expect(linesWith(file, 'a changed file')).toEqual(['+'])
      expect(trialEvents(trialOf(run, 'shaky'), 'tool_result').length).toBeGreaterThanOrEqual(1)
    })
  })

whenInstalled(['codex'], 'auto', () => {
  test('records only the new exchanges after a change, and is complete afterwards', async () => {
    const subject = { id: 'codex', driver: 'codex' }
    using place = replayProject(subject, { git: false })
    const argv = ['scenarios/steady.yaml']
    await runTests(place, [...argv, '--replay', 'record'])
    const exchanges = () =>
      readdirSync(place.path('cassettes'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\d{4}\.json$/.test(name),
      )
    const before = Object.fromEntries(exchanges().map((name) => [name, place.read(`cassettes/${name}`)]))
    place.write({ 'fixtures/steady/last.txt': 'changed at last\n' })
    const auto = await runTests(place, [...argv, '--replay', 'auto'])
    expect(trialOf(auto, 'steady')).toMatchObject({ verdict: 'pass', costUsd: 0 })
    const after = Object.fromEntries(exchanges().map((name) => [name, place.read(`cassettes/${name}`)]))
    expect(after).toMatchObject(before)
    // Only the last answer came behind the change.
    expect(Object.keys(after).length).toBe(Object.keys(before).length + 1)
    putAgent(place, subject, { isScripted: false })
    expect(trialOf(await runTests(place, [...argv, '--replay', 'strict']), 'steady').verdict).toBe('pass')
    expect(everythingIn(place.path('cassettes'))).not.toContain(place.store)
  })
})

whenInstalled(['claude-code', 'claude-code-old'], 'another version of the agent', () => {
  test('is detected by its different requests, and ends the trial at the first one', async () => {
    using place = replayProject({ id: 'claude-code', driver: 'claude-code' }, { git: false })
    await runTests(place, ['scenarios/steady.yaml', '--replay', 'record'])
    putAgent(place, { id: 'claude-code-old', driver: 'claude-code' }, { isScripted: false })
    const run = await runTests(place, ['scenarios/steady.yaml', '--replay', 'strict'])
    const { verdict, reason, metrics } = trialOf(run, 'steady')
    expect(verdict).toBe('invalid')
    expect(run.code).toBe(2)
    expect(linesWith(reason, 'cc_version=2.1.325')).toEqual(['-'])
    expect(linesWith(reason, 'cc_version=2.1.197')).toEqual(['+'])
    expect(reason.split('\n').length).toBeLessThan(80)
    expect(metrics.total_commands).toBe(0)
  })
})

function trialOf({ trials }: RunDocument, name: string): TrialRecord {
  const trial = trials.find((one) => one.case === name)
  if (trial === undefined) throw new Error(`no trial of ${name}`)
  return trial
}

function fixtureOf(run: RunDocument, name: string): string {
  return join(trialOf(run, name).dir, 'fixture')
}

/** The signs in front of the lines of a diff that have this text. */
function linesWith(diff: string, text: string): string[] {
  const lines = diff.split('\n').filter((line) => line.includes(text))
  return [...new Set(lines.map((line) => line.slice(0, 1)))]
}

/** What normalising must not change. Texts may contain paths and ids, so their length in words is compared. */
function essence(event: Record<string, unknown>): unknown {
  const { command, exit_code, is_error, tool, ending, passed, role, text, output } = event
  const words = (value: unknown) => (typeof value === 'string' ? value.split(/\s+/).length : undefined)
  return {
    ...{ kind: event.event, command, exit_code, is_error, tool, ending, passed, role },
    text,
    words: words(output),
  }
}
